import { LRUCache } from 'lru-cache';
import type { App } from '../../platform/app.ts';
import type { Changes, Statement, Value } from '../../platform/database/database.ts';
import { withEncodedAddresses } from './page-addresses.ts';

/**
 * The JSON of mods that pages have shown, with the versions of the rows that it was made of. PostgreSQL is asked for the
 * versions at every request, which costs a third of sending the texts again, so nothing here can be stale.
 */
interface KeptMod {
  readonly versions: string;
  /** What the JSON says of the mod's game and site. */
  readonly surroundings: string;
  /** Up to the path of the live file's link, whose signature and expiry follow. */
  readonly front: Buffer;
  readonly hasFile: boolean;
  readonly rest: Buffer;
}

const KEPT_BYTES_MAX = 16 * 1024 ** 2;
/** The server reuses the numbers of versions after four billion transactions. */
const KEPT_MS = 3_600_000;
const kept = new WeakMap<Changes, LRUCache<string, KeptMod>>();

function keptOf({ db: { changes } }: App): LRUCache<string, KeptMod> {
  const known = kept.get(changes);
  if (known) return known;
  const mods = new LRUCache<string, KeptMod>({
    maxSize: KEPT_BYTES_MAX,
    sizeCalculation: ({ front, rest }) => front.length + rest.length,
    ttl: KEPT_MS,
  });
  // After a lost connection the server may be another one, which numbers versions differently.
  changes.listen((scope) => {
    if (scope === undefined) mods.clear();
  });
  kept.set(changes, mods);
  return mods;
}

/** The versions of the rows of a mod, as SQL: the server gives every new version of a row another `xmin`. */
export const versionsOf = (translated: boolean): string =>
  ['c', 's', 'u', ...(translated ? ['t'] : [])]
    .map((row) => (row === 't' ? `coalesce(cast(t.xmin as text), '')` : `cast(${row}.xmin as text)`))
    .join(` || '.' || `);

export interface RowOfPage {
  readonly mod_id: number;
  readonly versions: Buffer;
  readonly body: Buffer;
  readonly file_body: Buffer | null;
  readonly file_link: Buffer | null;
  readonly rest: Buffer;
}

/** Reads the ids and versions of a page's mods, in any order. */
interface Versions {
  readonly statement: Statement;
  readonly values: readonly Value[];
}

export interface ShownPage {
  readonly ids: readonly number[];
  readonly language: string;
  readonly surroundings: string;
  /** Before and behind the path of a live file's link. */
  readonly link: { readonly before: string; readonly behind: string };
  readonly versions: Versions | undefined;
  readonly rowsOf: (ids: readonly number[]) => Promise<RowOfPage[]> | RowOfPage[];
}

const COMMA = Buffer.from(',');

/** The mods of a page, separated by commas, and how many of them still exist. */
export async function modsOfPage(app: App, page: ShownPage): Promise<{ parts: Buffer[]; count: number }> {
  const shown = await shownMods(app, page);
  const behindLink = Buffer.from(page.link.behind);
  const parts: Buffer[] = [];
  let count = 0;
  for (const id of page.ids) {
    const mod = shown.get(id);
    if (!mod) continue;
    if (count > 0) parts.push(COMMA);
    parts.push(mod.front);
    if (mod.hasFile) parts.push(behindLink);
    parts.push(mod.rest);
    count += 1;
  }
  return { parts, count };
}

async function shownMods(app: App, page: ShownPage): Promise<Map<number, KeptMod>> {
  const shown = new Map<number, KeptMod>();
  if (page.ids.length === 0) return shown;
  if (!page.versions) {
    for (const row of await page.rowsOf(page.ids)) shown.set(row.mod_id, keptMod(page, row));
    return shown;
  }
  const mods = keptOf(app);
  const missing: number[] = [];
  for (const [id, versions] of await versionsIn(app, page.versions)) {
    const known = mods.get(`${id}/${page.language}`);
    if (known?.versions === versions && known.surroundings === page.surroundings) shown.set(id, known);
    else missing.push(id);
  }
  for (const row of missing.length > 0 ? await page.rowsOf(missing) : []) {
    const mod = keptMod(page, row);
    mods.set(`${row.mod_id}/${page.language}`, mod);
    shown.set(row.mod_id, mod);
  }
  return shown;
}

/** The versions arrive as one text, because a row for each mod would cost as much as reading them. */
async function versionsIn(app: App, { statement, values }: Versions): Promise<[id: number, versions: string][]> {
  const row = await app.db.first<{ versions: string | null }>(statement, values);
  const all = row?.versions?.split(',') ?? [];
  return all.map((each) => {
    const gap = each.indexOf(' ');
    return [Number(each.slice(0, gap)), each.slice(gap + 1)];
  });
}

const BEFORE_FILE = Buffer.from(',"modfile":');
const NO_FILE = Buffer.from('{}');

/** Copies the row, because its texts are parts of large chunks that the socket received. */
function keptMod(
  { surroundings, link }: ShownPage,
  { versions, body, file_body, file_link, rest }: RowOfPage,
): KeptMod {
  const file = file_body === null ? [NO_FILE] : [file_body, Buffer.from(link.before), file_link!];
  return {
    versions: versions.toString('latin1'),
    surroundings,
    front: Buffer.concat([body, BEFORE_FILE, ...file]),
    hasFile: file_body !== null,
    rest: Buffer.from(withEncodedAddresses(rest)),
  };
}
