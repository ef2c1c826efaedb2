import { crc32 } from 'node:zlib';
import type { App } from '../../platform/app.ts';
import { KeptRows, type Made, type VersionsOf } from '../../platform/database/kept.ts';
import { type LinkParts, withEncodedAddresses } from './page-addresses.ts';

/** The JSON of a mod that pages have shown. */
interface KeptMod {
  /** Up to the path of the live file's link, whose signature and expiry follow. */
  readonly front: Buffer;
  readonly hasFile: boolean;
  readonly rest: Buffer;
  readonly checksum: number;
}

const kept = new KeptRows<KeptMod>(({ front, rest }) => front.length + rest.length);

export interface RowOfPage {
  readonly mod_id: number;
  readonly submitted_by: number;
  readonly versions: Uint8Array;
  readonly body: Uint8Array;
  readonly file_body: Uint8Array | null;
  readonly file_link: Uint8Array | null;
  readonly rest: Uint8Array;
}

export interface ShownPage {
  readonly gameId: number;
  readonly ids: readonly number[];
  /** The language and the platform. */
  readonly variant: string;
  readonly surroundings: string;
  readonly link: LinkParts;
  readonly versions: VersionsOf | undefined;
  readonly rowsOf: (ids: readonly number[]) => Promise<RowOfPage[]> | RowOfPage[];
}

const COMMA = Buffer.from(',');

/** The mods of a page, separated by commas, and how many of them still exist. */
export async function modsOfPage(
  app: App,
  page: ShownPage,
): Promise<{ parts: Buffer[]; count: number; checksums: number[] }> {
  const shown = await shownMods(app, page);
  const behindLink = Buffer.from(page.link.behind);
  const parts: Buffer[] = [];
  const checksums: number[] = [];
  let count = 0;
  for (const id of page.ids) {
    const mod = shown.get(id);
    if (!mod) continue;
    if (count > 0) parts.push(COMMA);
    parts.push(mod.front);
    if (mod.hasFile) parts.push(behindLink);
    parts.push(mod.rest);
    checksums.push(mod.checksum);
    count += 1;
  }
  return { parts, count, checksums };
}

async function shownMods(app: App, page: ShownPage): Promise<Map<number, KeptMod>> {
  const { ids, versions, variant, surroundings } = page;
  const make = async (some: readonly number[]): Promise<Made<KeptMod>[]> =>
    (await page.rowsOf(some)).map((row) => ({
      id: row.mod_id,
      versions: Buffer.from(row.versions).toString('latin1'),
      // Ranks change with the stats of the whole game.
      scopes: [`mods/${row.mod_id}`, `games/${page.gameId}`, `users/${row.submitted_by}`],
      value: keptMod(page, row),
    }));
  return ids.length === 0 ? new Map() : kept.valuesOf(app.db, { ids, versions, variant, surroundings, make });
}

const BEFORE_FILE = Buffer.from(',"modfile":');
const NO_FILE = Buffer.from('{}');

/** Copies the row, because its texts are parts of large chunks that the socket received. */
function keptMod({ link }: ShownPage, { body, file_body, file_link, rest }: RowOfPage): KeptMod {
  const file = file_body === null ? [NO_FILE] : [file_body, Buffer.from(link.before), file_link!];
  const front = Buffer.concat([body, BEFORE_FILE, ...file]);
  const behind = withEncodedAddresses(Buffer.from(rest));
  return { front, hasFile: file_body !== null, rest: behind, checksum: crc32(behind, crc32(front)) };
}
