/** One way in which an operation differs, with how often it was seen. */
export interface Difference {
  readonly operation: string;
  readonly field: string;
  readonly problem: string;
  count: number;
  readonly example: { readonly path: string; readonly old: string; readonly new: string };
}

export interface Compared {
  readonly status: number;
  readonly json: unknown;
}

type Found = (field: string, problem: string, old: unknown, fresh: unknown) => void;

/** Seconds until a link or a statistic ends differ with the time of the request. */
const NEVER_COMPARED = /(?:^|\.)date_expires$/;

const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value);

/** Each service has its own hosts, and signs links and names images in its own way. */
const areEquivalent = (old: unknown, fresh: unknown): boolean =>
  isAddress(old) &&
  isAddress(fresh) &&
  (new URL(old).host !== new URL(fresh).host || unsigned(old) === unsigned(fresh));

/** A new service may already have the address of the old one; then only the signatures of downloads differ. */
const unsigned = (address: string): string =>
  address.replace(/(?<=\/download)\/[^?]*|(?<=[?&]verification_hash=)[^&]*/g, '');

const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

const idOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? ((value as Record<string, unknown>)['id'] ?? undefined) : undefined;

/** Calls `found` for each difference of two answers. `ignored` are names of fields without indexes. */
export function compare(old: Compared, fresh: Compared, ignored: ReadonlySet<string>, found: Found): void {
  if (old.status !== fresh.status) return void found('(status)', 'differs', old.status, fresh.status);
  visit('', old.json, fresh.json);

  function visit(field: string, one: unknown, other: unknown): void {
    if (ignored.has(field) || NEVER_COMPARED.test(field)) return;
    const [type, otherType] = [typeOf(one), typeOf(other)];
    if (type !== otherType) return void found(field || '(body)', `${type} became ${otherType}`, one, other);
    if (Array.isArray(one)) return void visitList(field, one, other as unknown[]);
    if (type === 'object')
      return void visitFields(field, one as Record<string, unknown>, other as Record<string, unknown>);
    if (one !== other && !areEquivalent(one, other)) found(field || '(body)', 'differs', one, other);
  }

  function visitFields(field: string, one: Record<string, unknown>, other: Record<string, unknown>): void {
    for (const [name, value] of Object.entries(one)) {
      const path = field === '' ? name : `${field}.${name}`;
      if (ignored.has(path)) continue;
      if (name in other) visit(path, value, other[name]);
      else found(path, 'is missing', value, undefined);
    }
  }

  /** Lists of objects are matched by id, so that one missing object is one difference. */
  function visitList(field: string, one: readonly unknown[], other: readonly unknown[]): void {
    const within = `${field}[]`;
    const known = new Map(other.map((each) => [idOf(each), each]));
    const isById = one.length > 0 && one.every((each) => idOf(each) !== undefined);
    if (!isById) {
      if (one.length !== other.length) found(within, 'has another length', one.length, other.length);
      for (const [index, each] of one.slice(0, other.length).entries()) visit(within, each, other[index]);
      return;
    }
    const ids = one.map(idOf);
    for (const each of one) {
      const id = idOf(each);
      if (known.has(id)) visit(within, each, known.get(id));
      else found(within, 'is missing', id, undefined);
    }
    const expected = new Set(ids);
    for (const id of known.keys()) if (!expected.has(id)) found(within, 'is additional', undefined, id);
    const common = ids.filter((id) => known.has(id));
    const order = [...known.keys()].filter((id) => expected.has(id));
    if (common.join() !== order.join()) found(within, 'has another order', common.slice(0, 5), order.slice(0, 5));
  }
}

const SHOWN_MAX = 80;
const shown = (value: unknown): string => {
  const text = value === undefined ? '(nothing)' : (JSON.stringify(value) ?? String(value));
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
};

/** More kinds of differences than anybody reads are only counted. */
const KINDS_MAX = 1_000;

/** Differences by operation and field, in bounded memory. */
export class Differences {
  readonly #kinds = new Map<string, Difference>();
  #beyond = 0;

  add(operation: string, path: string, field: string, problem: string, old: unknown, fresh: unknown): void {
    const key = `${operation} ${field} ${problem}`;
    const known = this.#kinds.get(key);
    if (known) known.count += 1;
    else if (this.#kinds.size >= KINDS_MAX) this.#beyond += 1;
    else
      this.#kinds.set(key, {
        operation,
        field,
        problem,
        count: 1,
        example: { path, old: shown(old), new: shown(fresh) },
      });
  }

  get beyond(): number {
    return this.#beyond;
  }

  list(): Difference[] {
    return [...this.#kinds.values()].sort((one, other) => other.count - one.count);
  }
}

/** `/v1/games/1/mods/2` as `GET /v1/games/{id}/mods/{id}`. */
export const operationOf = (path: string): string => `GET ${path.replace(/\/\d+(?=\/|$)/g, '/{id}')}`;
