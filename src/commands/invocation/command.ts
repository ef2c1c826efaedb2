import { parseArgs } from 'node:util';
import type { Environment } from '../../platform/config/addresses.ts';
import type { Settings } from '../../platform/config/settings.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import type { Message } from './messages.ts';

/** An expected failure. What the person reads is its message, or its texts in their language. */
export class Refusal extends Error {
  readonly exitCode: number;
  readonly texts: readonly Message[];

  constructor(reason: string | readonly Message[], exitCode = 1) {
    super(typeof reason === 'string' ? reason : JSON.stringify(reason));
    this.exitCode = exitCode;
    this.texts = typeof reason === 'string' ? [] : reason;
  }
}

/** An error in the command line itself. */
export const misuse = (reason: string | Message, ...more: readonly Message[]): Refusal =>
  new Refusal(typeof reason === 'string' ? reason : [reason, ...more], 2);

interface Option {
  readonly type: 'string' | 'boolean';
  readonly multiple?: boolean;
  readonly required?: boolean;
  /** The name of the value in the help. */
  readonly value?: string;
  readonly says: string;
}

type Options = Readonly<Record<string, Option>>;

type ValueOf<O extends Option> = O extends { type: 'boolean' }
  ? boolean
  : O extends { multiple: true }
    ? string[]
    : O extends { required: true }
      ? string
      : string | undefined;

/** The environment and the output of a command: the process's own, or those of a test. */
export interface Terminal {
  readonly env: NodeJS.ProcessEnv;
  out(text: string): void;
  err(text: string): void;
}

export interface Invocation<O extends Options> {
  readonly values: { readonly [K in keyof O]: ValueOf<O[K]> };
  readonly positionals: readonly string[];
  readonly sandbox: boolean;
  readonly environment: Environment;
  readonly json: boolean;
  readonly env: NodeJS.ProcessEnv;
  /** The language of the person, if the command is localised; otherwise English. */
  readonly language: Language;
  /** Throws a SettingError if a setting is invalid. */
  settings(): Settings;
  /** Prints a line while the command runs. */
  show(text: string): void;
  /** Prints a line of progress, on standard error. */
  report(text: string): void;
}

interface Result {
  /** What `--json` prints. */
  readonly object: object;
  readonly text: string;
  readonly exitCode?: number;
}

export interface Declaration<O extends Options> {
  readonly name: string;
  /** What follows the name on the command line. */
  readonly usage: string;
  readonly says: string;
  readonly options: O;
  readonly positionals?: boolean;
  /** For those who have no service: it reads no settings, and runs without the dependencies of the service. */
  readonly standalone?: boolean;
  /** For authors and players: its output is in the language of the person. The commands of operators are in English. */
  readonly localised?: boolean;
  /** Whether it returns data and therefore accepts `--json`. */
  readonly json: boolean;
  run(invocation: Invocation<O>): Promise<Result | undefined>;
}

export interface Command {
  readonly name: string;
  readonly usage: string;
  readonly says: string;
  /** What `--help` prints. */
  readonly help: string;
  /** Resolves to the exit code. */
  run(args: readonly string[], terminal: Terminal): Promise<number>;
}

export const PROGRAM = 'npx modstead';

export function command<const O extends Options>(declaration: Declaration<O>): Command {
  const { name, usage, says } = declaration;
  const options = { ...declaration.options, ...commonOptions(declaration) };
  const help = helpOf(declaration, options);
  const run = async (args: readonly string[], terminal: Terminal) => {
    const { values, positionals } = parse(declaration, options, args);
    if (values['help']) return show(terminal, help);
    requireValues(declaration, values);
    const settings = declaration.standalone ? noSettings : await settingsReader(terminal.env);
    const result = await declaration.run({
      values: values as Invocation<O>['values'],
      positionals,
      sandbox: values['sandbox'] === true,
      environment: values['sandbox'] ? 'sandbox' : 'production',
      json: values['json'] === true,
      env: terminal.env,
      language: declaration.localised ? await chosenLanguage(values['language'], terminal) : 'en',
      settings,
      show: (text) => show(terminal, text),
      report: (text) => terminal.err(`${text}\n`),
    });
    if (result) show(terminal, values['json'] ? JSON.stringify(result.object) : result.text);
    return result?.exitCode ?? 0;
  };
  return { name, usage, says, help, run: (args, terminal) => inWords(declaration, args, terminal, run) };
}

async function chosenLanguage(given: unknown, { env }: Terminal): Promise<Language> {
  const { languageOfLocale, languageOfTerminal, SPOKEN } = await import('./language.ts');
  if (typeof given !== 'string') return languageOfTerminal(env);
  const language = languageOfLocale(given);
  if (language) return language;
  throw misuse({ name: 'option_one_of', values: { option: '--language', values: { any: SPOKEN }, value: given } });
}

/** Puts a refusal into words. They are loaded only here, because most runs need none. */
async function inWords(
  { localised }: Declaration<Options>,
  args: readonly string[],
  terminal: Terminal,
  run: Command['run'],
): Promise<number> {
  try {
    return await run(args, terminal);
  } catch (error) {
    if (!(error instanceof Refusal) || error.texts.length === 0) throw error;
    const [{ wordsIn }, { languageOfArguments }] = await Promise.all([
      import('./messages.ts'),
      import('./language.ts'),
    ]);
    const words = wordsIn(localised ? languageOfArguments(args, terminal.env) : 'en');
    throw new Refusal(words(...error.texts), error.exitCode);
  }
}

async function settingsReader(env: NodeJS.ProcessEnv): Promise<() => Settings> {
  const { readSettings } = await import('../../platform/config/settings.ts');
  return () => readSettings(env);
}

function noSettings(): never {
  throw new TypeError('A standalone command has no settings.');
}

export function show(terminal: Terminal, text: string): 0 {
  terminal.out(`${text}\n`);
  return 0;
}

function commonOptions({ json, localised }: Declaration<Options>): Options {
  return {
    ...(localised && {
      language: {
        type: 'string',
        value: 'LANGUAGE',
        says: 'of the output, such as de or pt-BR (default: LANGUAGE, LC_ALL, LC_MESSAGES or LANG)',
      },
    }),
    sandbox: { type: 'boolean', says: 'act on the sandbox instead of production' },
    ...(json && { json: { type: 'boolean', says: 'print one JSON object and nothing else' } }),
    help: { type: 'boolean', says: 'print this' },
  };
}

type OptionTypes = Readonly<Record<string, { readonly type: 'string' | 'boolean' }>>;
/** Longer than a short option. */
const DASHED_VALUE = /^-[^-]./;

/** The value behind an option may begin with a dash, as one in 64 public keys does; `parseArgs` asks for an equals sign. */
function withDashedValues(args: readonly string[], options: OptionTypes): string[] {
  const joined: string[] = [];
  for (const text of args) {
    const last = joined.at(-1) ?? '';
    const takesValue = last.startsWith('--') && options[last.slice(2)]?.type === 'string';
    if (takesValue && DASHED_VALUE.test(text)) joined.push(`${joined.pop()}=${text}`);
    else joined.push(text);
  }
  return joined;
}

type Parsed = { values: Record<string, unknown>; positionals: string[] };

function parse(declaration: Declaration<Options>, options: Options, args: readonly string[]): Parsed {
  const config = Object.fromEntries(
    Object.entries(options).map(([name, { type, multiple }]) => [name, { type, multiple: multiple ?? false }]),
  );
  try {
    const { values, positionals, tokens } = parseArgs({
      args: withDashedValues(args, config),
      options: config,
      allowPositionals: true,
      tokens: true,
    });
    const seen = new Set<string>();
    for (const token of tokens) {
      if (token.kind !== 'option' || config[token.name]?.multiple) continue;
      // The last value would win silently, which hides typing mistakes.
      if (seen.has(token.name))
        throw misuse({ name: 'option_twice', values: { option: `--${token.name}` } }, helpHint(declaration.name));
      seen.add(token.name);
    }
    const [stray] = positionals;
    if (stray !== undefined && !declaration.positionals)
      throw misuse(`"${declaration.name}" takes no "${stray}"; ${hint(declaration)}`);
    return { values, positionals };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw misuse(problemOf(error, declaration), helpHint(declaration.name));
  }
}

const hint = ({ name }: { name: string }) => `"${PROGRAM} ${name} --help" shows what it takes.`;

export const helpHint = (name: string): Message => ({
  name: 'help_hint',
  values: { help: `${PROGRAM} ${name} --help` },
});

function problemOf(error: Error & { code?: string }, { name: command }: Declaration<Options>): Message {
  const option = /'(-[^' ]*)/.exec(error.message)?.[1] ?? '';
  if (error.code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return { name: 'option_unknown', values: { command, option } };
  const isSwitch = error.message.includes('does not take an argument');
  return { name: isSwitch ? 'option_takes_no_value' : 'option_needs_value', values: { option } };
}

function requireValues(declaration: Declaration<Options>, values: Record<string, unknown>): void {
  const missing = Object.entries(declaration.options)
    .filter(([name, { required }]) => required && !values[name])
    .map(([name]) => `--${name}`);
  if (missing.length > 0) throw misuse(`"${declaration.name}" needs ${missing.join(' and ')}; ${hint(declaration)}`);
  for (const [name, { type, multiple }] of Object.entries(declaration.options)) {
    if (type === 'boolean') values[name] ??= false;
    else if (multiple) values[name] ??= [];
  }
}

function helpOf({ name, usage, says }: Declaration<Options>, options: Options): string {
  const lines = Object.entries(options).map(
    ([option, { value, says }]) => [`--${option}${value ? ` ${value}` : ''}`, says] as const,
  );
  return `${[PROGRAM, name, usage].filter(Boolean).join(' ')}\n\n${says}\n\n${columns(lines)}`;
}

/** Formats pairs as two indented columns. */
export function columns(pairs: readonly (readonly [string, string])[]): string {
  const width = Math.max(...pairs.map(([left]) => left.length)) + 2;
  return pairs.map(([left, right]) => `  ${left.padEnd(width)}${right}`.trimEnd()).join('\n');
}

/** Parses an id; the error names the option. */
export function idOf(text: string, option: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw misuse({ name: 'option_id', values: { option, value: text } });
  return Number(text);
}
