import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { parseArgs } from 'node:util';

const help = `npm run contract-same -- OLD NEW

Compares the meaning of two OpenAPI documents: it resolves references and ignores order and layout. Prints every
difference, and fails if there is one. OLD and NEW are files, or HEAD:contract/openapi.json for a file in git.

  --help    print this`;

type Node = unknown;
type Fields = Readonly<Record<string, Node>>;

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
/** Lists whose order has no meaning. */
const SETS = new Set(['required', 'enum', 'tags', 'type', 'security', 'x-error-refs', 'anyOf', 'oneOf', 'allOf']);

/** Describes every difference in meaning between two documents, in a sentence each. */
export function differences(old: Node, now: Node): string[] {
  const comparison = new Comparison(old, now);
  comparison.run();
  return comparison.found;
}

class Comparison {
  readonly found: string[] = [];
  readonly #old: Node;
  readonly #now: Node;
  /** Pairs of references that were compared, or are being compared: schemas may contain themselves. */
  readonly #compared = new Set<string>();

  constructor(old: Node, now: Node) {
    this.#old = old;
    this.#now = now;
  }

  run(): void {
    const { paths: oldPaths, components: oldParts, ...oldRest } = fieldsOf(this.#old);
    const { paths, components, ...rest } = fieldsOf(this.#now);
    this.#compare('the document', oldRest, rest);
    this.#compare('securitySchemes', fieldsOf(oldParts)['securitySchemes'], fieldsOf(components)['securitySchemes']);
    // Client generators name classes after schemas, so a name may be added, but not removed or reused.
    const schemas = fieldsOf(fieldsOf(components)['schemas']);
    for (const [name, schema] of Object.entries(fieldsOf(fieldsOf(oldParts)['schemas']))) {
      const reference = { $ref: `#/components/schemas/${name}` };
      if (Object.hasOwn(schemas, name)) this.#compare(`schema ${name}`, reference, reference);
      else this.#report(`schema ${name}`, schema, undefined);
    }
    this.#compare('', operationsOf(oldPaths), operationsOf(paths));
  }

  #compare(where: string, oldNode: Node, nowNode: Node): void {
    if (referenceOf(oldNode) && referenceOf(nowNode)) {
      const pair = JSON.stringify([oldNode, nowNode]);
      if (this.#compared.has(pair)) return;
      this.#compared.add(pair);
    }
    const old = followed(this.#old, oldNode);
    const now = followed(this.#now, nowNode);
    if (Array.isArray(old) && Array.isArray(now)) this.#compareLists(where, old, now);
    else if (isObject(old) && isObject(now)) this.#compareFields(where, old, now);
    else if (old !== now) this.#report(where, old, now);
  }

  #compareFields(where: string, old: Fields, now: Fields): void {
    for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
      const inside = where ? `${where}: ${key}` : key;
      if (key === 'parameters' && Array.isArray(old[key]) && Array.isArray(now[key]))
        this.#compare(inside, byPlace(this.#old, old[key]), byPlace(this.#now, now[key]));
      else this.#compare(inside, old[key], now[key]);
    }
  }

  #compareLists(where: string, old: readonly Node[], now: readonly Node[]): void {
    const isSet = SETS.has(where.split(': ').at(-1)!);
    if (isSet && ![...old, ...now].some(isObject)) this.#compareSets(where, old, now);
    else if (isSet) this.#compareEntries(where, sorted(this.#old, old), sorted(this.#now, now));
    else this.#compareEntries(where, old, now);
  }

  #compareEntries(where: string, old: readonly Node[], now: readonly Node[]): void {
    for (let i = 0; i < Math.max(old.length, now.length); i += 1) this.#compare(`${where}: ${i + 1}`, old[i], now[i]);
  }

  #compareSets(where: string, old: readonly Node[], now: readonly Node[]): void {
    for (const each of old) if (!now.includes(each)) this.#report(where, each, undefined);
    for (const each of now) if (!old.includes(each)) this.#report(where, undefined, each);
  }

  #report(where: string, old: Node, now: Node): void {
    if (now === undefined) this.found.push(`${where}: lost ${short(old)}`);
    else if (old === undefined) this.found.push(`${where}: new ${short(now)}`);
    else this.found.push(`${where}: was ${short(old)}, is ${short(now)}`);
  }
}

const isObject = (node: Node): node is Fields => typeof node === 'object' && node !== null;
const fieldsOf = (node: Node): Fields => (isObject(node) ? node : {});

function referenceOf(node: Node): string | undefined {
  const reference = fieldsOf(node)['$ref'];
  return typeof reference === 'string' ? reference : undefined;
}

/** The target of a reference, merged with the keywords beside the reference. */
function followed(document: Node, node: Node): Node {
  const reference = referenceOf(node);
  if (reference === undefined) return node;
  const keys = reference.slice('#/'.length).split('/');
  const target = keys.reduce((at, key) => fieldsOf(at)[key.replaceAll('~1', '/').replaceAll('~0', '~')], document);
  if (target === undefined) throw new Error(`${reference} refers to nothing.`);
  const { $ref: _reference, ...beside } = fieldsOf(node);
  const resolved = followed(document, target);
  return Object.keys(beside).length > 0 ? { ...fieldsOf(resolved), ...beside } : resolved;
}

/** Operations by method and path; parameters of a path count for each operation of it. */
function operationsOf(paths: Node): Fields {
  return Object.fromEntries(
    Object.entries(fieldsOf(paths)).flatMap(([path, item]) => {
      const { parameters: shared = [], ...rest } = fieldsOf(item);
      return Object.entries(rest).map(([key, operation]) => {
        if (!METHODS.includes(key)) return [`${path} ${key}`, operation];
        const { parameters = [] } = fieldsOf(operation);
        return [
          `${key.toUpperCase()} ${path}`,
          { ...fieldsOf(operation), parameters: [...(shared as Node[]), ...(parameters as Node[])] },
        ];
      });
    }),
  );
}

/** Parameters by location and name, because their order has no meaning. */
function byPlace(document: Node, parameters: readonly Node[]): Fields {
  return Object.fromEntries(
    parameters.map((each) => {
      const { in: place, name } = fieldsOf(followed(document, each));
      return [`${place} ${name}`, each];
    }),
  );
}

const sorted = (document: Node, nodes: readonly Node[]) =>
  nodes.toSorted((one, other) => (keyOf(document, one) < keyOf(document, other) ? -1 : 1));

/** The sort key of an alternative: its name, or its whole content. */
const keyOf = (document: Node, node: Node) => referenceOf(node) ?? JSON.stringify(followed(document, node));

function short(node: Node): string {
  const text = JSON.stringify(node);
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}

function read(name: string): Node {
  const text = fs.existsSync(name) ? fs.readFileSync(name, 'utf8') : fromGit(name);
  return JSON.parse(text);
}

const fromGit = (name: string) => execFileSync('git', ['show', name], { encoding: 'utf8', maxBuffer: 2 ** 28 });

function main(): number {
  const { values, positionals } = parseArgs({ options: { help: { type: 'boolean' } }, allowPositionals: true });
  const [old, now] = positionals;
  if (values.help || !old || !now) {
    console.log(help);
    return values.help ? 0 : 2;
  }
  const [oldDocument, nowDocument] = [read(old), read(now)];
  const found = differences(oldDocument, nowDocument);
  for (const each of found) console.log(each);
  const operations = Object.keys(operationsOf(fieldsOf(nowDocument)['paths'])).length;
  console.log(found.length === 0 ? `${operations} operations mean the same` : `${found.length} differences`);
  return found.length === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = main();
