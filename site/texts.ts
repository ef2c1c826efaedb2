import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { IntlMessageFormat } from 'intl-messageformat';
import type { Plugin } from 'vite';
import { findSections, type Section, SPLIT } from './text-sections.ts';

type Element = ReturnType<IntlMessageFormat['getAst']>[number];
type Texts = Readonly<Record<string, string>>;

const FOLDER = path.resolve(import.meta.dirname, 'src/texts');
const TYPES = path.resolve(import.meta.dirname, '.svelte-kit/texts.d.ts');
/** The kinds of elements of a parsed ICU message. */
const KIND = { literal: 0, argument: 1, number: 2, select: 5, plural: 6, pound: 7 } as const;

const parse = (text: string) => new IntlMessageFormat(text, 'en', undefined, { ignoreTag: true }).getAst();

const TEXTS = 'virtual:texts';
/** The areas that every page has, in one file. */
const EVERYWHERE = ['common', 'errors', 'browse'];

/** How many characters of English the texts of sections in one file have, unless one section alone has more. */
const PACK_LENGTH = 1_500;

/**
 * Compiles ICU messages, one JSON file per area and language, when the site is built: a browser gets plain strings and
 * small functions instead of a parser. A text that a language lacks is that of the language it is a variant of, or English.
 */
export function texts(): Plugin {
  writeTypes();
  const split = new Split(findSections());
  return {
    name: 'modstead-texts',
    resolveId: (id) => (id.startsWith(TEXTS) ? `\0${id}` : null),
    load(id) {
      if (!id.startsWith(`\0${TEXTS}`)) return null;
      const [, name, language, pack] = id.split('/');
      if (!name || !language) return loaders();
      if (name === 'everywhere') return everywhere(language);
      // The service has all texts in its memory anyway, and some are for other people than the visitor.
      const isWhole = !SPLIT.has(name) || this.environment.name !== 'client' || PSEUDO.includes(language);
      if (isWhole) return moduleOf(name, language);
      return pack ? split.packModule(name, language, Number(pack)) : split.commonModule(name, language);
    },
  };
}

const areas = (): string[] =>
  readdirSync(FOLDER, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

/** English with accents and room to grow, from left to right and from right to left; for looking at pages in development. */
const PSEUDO = ['en-XA', 'ar-XB'];

const languagesOf = (area: string) => [
  ...readdirSync(path.join(FOLDER, area))
    .map((file) => path.basename(file, '.json'))
    .filter((name) => name !== 'notes'),
  ...PSEUDO,
];

const importing = (names: readonly string[], of: (name: string) => string) =>
  `{\n${names.map((name) => `${JSON.stringify(name)}: () => import('${TEXTS}/${of(name)}'),`).join('\n')}\n}`;

/** A module that loads a language when it is first needed; every page has it, so it names nothing else. */
const loaders = (): string => `export default ${importing(languagesOf('common'), (name) => `everywhere/${name}`)};`;

/** The texts of every page, and what loads the other areas of the language. */
function everywhere(language: string): string {
  const imports = EVERYWHERE.map((area) => `import ${area} from '${TEXTS}/${area}/${language}';`);
  const alone = areas().filter((area) => !EVERYWHERE.includes(area));
  return `${imports.join('\n')}\nexport default { ${EVERYWHERE.join(', ')} };
export const areas = ${importing(alone, (area) => `${area}/${language}`)};`;
}

const read = (area: string, language: string): Texts => {
  try {
    return JSON.parse(readFileSync(path.join(FOLDER, area, `${language}.json`), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new Error(`site/src/texts/${area}/${language}.json: ${(error as Error).message}`);
  }
};

/** The areas of which a page loads what all sections have, and what its own section has. */
class Split {
  readonly #sections: ReturnType<typeof findSections>;
  readonly #packs = new Map<string, readonly Section[][]>();

  constructor(sections: ReturnType<typeof findSections>) {
    this.#sections = sections;
  }

  /** What all sections have of an area, and what loads the rest of each of them. */
  commonModule(area: string, language: string): string {
    const module = moduleOf(area, language, (key) => this.#sections.of(area, key).length === 0);
    const list = this.#packsOf(area).flatMap((pack, index) =>
      pack.map(({ name }) => `'${name}': () => import('${TEXTS}/${area}/${language}/${index}'),`),
    );
    return `${module}\nexport const sections = {\n${list.join('\n')}\n};`;
  }

  /** What some sections have of their areas beside what all of them have. */
  packModule(area: string, language: string, index: number): string {
    const pack = this.#packsOf(area)[index]!;
    const own = pack[0]!.areas.map((each) => {
      const has = (key: string) => this.#sections.of(each, key).some((section) => pack.includes(section));
      return `${each}: ${codeOfArea(each, language, has)},`;
    });
    return `${rulesFor(language)}\nexport default {\n${own.join('\n')}\n};`;
  }

  /** Small sections that have the same areas share a file: thousands of tiny ones would be slow to build and to install. */
  #packsOf(area: string): readonly Section[][] {
    const packs = this.#packs.get(area) ?? this.#pack(area);
    this.#packs.set(area, packs);
    return packs;
  }

  #pack(area: string): Section[][] {
    const packs: Section[][] = [];
    let length = 0;
    for (const section of this.#sections.listedBy(area)) {
      const own = this.#lengthOf(section);
      if (packs.at(-1)?.[0]?.areas !== section.areas || length + own > PACK_LENGTH) {
        packs.push([]);
        length = 0;
      }
      packs.at(-1)!.push(section);
      length += own;
    }
    return packs;
  }

  #lengthOf(section: Section): number {
    const texts = section.areas.flatMap((area) =>
      Object.entries(read(area, 'en')).filter(([key]) => this.#sections.of(area, key).includes(section)),
    );
    return texts.reduce((sum, [, text]) => sum + text.length, 0);
  }
}

const rulesFor = (language: string) => `import { rulesOf } from '/src/texts/rules.ts';
const rules = rulesOf(${JSON.stringify(language)});
const english = rulesOf('en');`;

const moduleOf = (area: string, language: string, has?: (key: string) => boolean): string =>
  `${rulesFor(language)}\nexport default ${codeOfArea(area, language, has)};`;

/** The texts of an area, or those that `has` names, as an object. */
function codeOfArea(area: string, language: string, has: (key: string) => boolean = () => true): string {
  const isPseudo = PSEUDO.includes(language);
  const sources = (isPseudo ? ['en'] : [language, language.split('-')[0]!, 'en']).map(
    (from) => [from, read(area, from)] as const,
  );
  const keys = Object.keys(read(area, 'en')).filter(has);
  const entries = keys.map((key) => {
    const [from, own] = sources.find(([, own]) => key in own)!;
    return [
      key,
      codeOf(own[key]!, from === 'en' ? 'english' : 'rules', `${area}/${from}.json: ${key}`, isPseudo),
    ] as const;
  });
  return nested(entries, (key, code) => `${JSON.stringify(key)}: ${code},`);
}

const ACCENTS: Readonly<Record<string, string>> = Object.fromEntries(
  [...'aáeéiíoóuúcçnñsšyýAÁEÉIÍOÓUÚCÇNÑSŠYÝ'.matchAll(/(.)(.)/gu)].map(([, plain, accented]) => [plain!, accented!]),
);
const accented = (text: string) => text.replace(/[a-z]/gi, (letter) => ACCENTS[letter] ?? letter);

/** A third longer, as many languages are, in brackets that show where a text is cut off. */
function pseudo(elements: readonly Element[]): Element[] {
  const length = elements.reduce((sum, element) => sum + (element.type === KIND.literal ? element.value.length : 0), 0);
  const inner = (inside: readonly Element[]): Element[] =>
    inside.map((element) => {
      if (element.type === KIND.literal) return { ...element, value: accented(element.value) };
      if (!('options' in element)) return element;
      const options = Object.entries(element.options).map(([form, { value }]) => [form, { value: inner(value) }]);
      return { ...element, options: Object.fromEntries(options) } as Element;
    });
  const literal = (value: string): Element => ({ type: KIND.literal, value });
  return [literal('['), ...inner(elements), literal(`${'~'.repeat(Math.ceil(length / 3))}]`)];
}

/** A message as an expression: a string, or a function of its values. */
function codeOf(text: string, rules: string, at: string, isPseudo: boolean): string {
  const elements = isPseudo ? pseudo(parse(text)) : parse(text);
  const code = joined(elements, rules, at);
  return Object.keys(argumentsOf(elements)).length === 0 ? code : `(values) => ${code}`;
}

function joined(elements: readonly Element[], rules: string, at: string, count = ''): string {
  if (elements.length === 0) return "''";
  return elements.map((element) => expressionOf(element, rules, at, count)).join(' + ');
}

function expressionOf(element: Element, rules: string, at: string, count: string): string {
  if (element.type === KIND.literal) return JSON.stringify(element.value);
  if (element.type === KIND.pound) return `${rules}.number(${count})`;
  const value = 'value' in element ? `values[${JSON.stringify(element.value)}]` : '';
  if (element.type === KIND.argument) return `\`\${${value}}\``;
  if (element.type === KIND.number) return `${rules}.number(${value})`;
  if (element.type === KIND.plural) {
    const ordinal = element.pluralType === 'ordinal' ? ', true' : '';
    return `${rules}.plural(${value}, ${optionsOf(element.options, rules, at, value)}${ordinal})`;
  }
  if (element.type === KIND.select) return `${rules}.select(${value}, ${optionsOf(element.options, rules, at, count)})`;
  throw new Error(`${at}: dates and times are formatted before they are put into a text`);
}

function optionsOf(
  options: Readonly<Record<string, { readonly value: readonly Element[] }>>,
  rules: string,
  at: string,
  count: string,
): string {
  const forms = Object.entries(options).map(
    ([form, { value }]) => `${JSON.stringify(form)}: () => ${joined(value, rules, at, count)}`,
  );
  return `{ ${forms.join(', ')} }`;
}

type ArgumentTypes = Record<string, string>;

function argumentsOf(elements: readonly Element[], types: ArgumentTypes = {}): ArgumentTypes {
  for (const element of elements) {
    if (!('value' in element) || element.type === KIND.literal) continue;
    const isNumber = element.type === KIND.plural || element.type === KIND.number;
    types[element.value] = isNumber ? 'number' : (types[element.value] ?? 'string | number');
    if ('options' in element) for (const { value } of Object.values(element.options)) argumentsOf(value, types);
  }
  return types;
}

/** Keys with dots become groups: `sorts.name` is `sorts: { name }`. */
function nested(
  entries: readonly (readonly [string, string])[],
  write: (key: string, value: string) => string,
): string {
  const groups = new Map<string, [string, string][]>();
  const lines: string[] = [];
  for (const [key, value] of entries) {
    const dot = key.indexOf('.');
    if (dot < 0) lines.push(write(key, value));
    else {
      const group = key.slice(0, dot);
      groups.set(group, [...(groups.get(group) ?? []), [key.slice(dot + 1), value]]);
    }
  }
  for (const [group, inner] of groups) lines.push(write(group, nested(inner, write)));
  return `{\n${lines.join('\n')}\n}`;
}

/** The types of all texts, from English. */
function writeTypes(): void {
  const types = areas().map((name) => {
    const entries = Object.entries(read(name, 'en')).map(([key, text]) => [key, typeOf(text)] as const);
    return `  readonly ${name}: ${nested(entries, (key, type) => `readonly ${JSON.stringify(key)}: ${type};`)};`;
  });
  const always = EVERYWHERE.map((area) => JSON.stringify(area)).join(' | ');
  const code = `/** Made from the English texts when the site is built or checked. */
export interface Areas {
${types.join('\n')}
}
/** The areas that every page has. */
export type Everywhere = ${always};
`;
  if (readOrEmpty(TYPES) === code) return;
  mkdirSync(path.dirname(TYPES), { recursive: true });
  writeFileSync(TYPES, code);
}

function typeOf(text: string): string {
  const types = Object.entries(argumentsOf(parse(text)));
  if (types.length === 0) return 'string';
  return `(values: { ${types.map(([name, type]) => `readonly ${name}: ${type}`).join('; ')} }) => string`;
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
