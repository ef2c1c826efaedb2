import { type Database, statement, type Transaction } from '../../platform/database/database.ts';
import { forPlatform, IS_PUBLIC_FILE, RUNS_ON_PLATFORM } from '../../platform/database/platforms.ts';
import { removeInSteps, someOf } from '../../platform/database/removal.ts';
import type { CountedDownloadsTable } from './table.ts';

/** The columns of a file, its mod and its game that decide about a download. */
export interface FileRow {
  readonly id: number;
  readonly mod_id: number;
  readonly game_id: number;
  readonly date_added: number;
  readonly filesize: number;
  readonly virus_status: number;
  readonly virus_positive: number;
  readonly sha256: string;
  readonly storage_key: string;
  readonly filename: string;
  readonly api_access_options: number;
  readonly price: number;
  /** Of the mod, then of its game. */
  readonly maturity_option: number;
  readonly maturity_options: number;
  /** 1 if the file is public, and approved for the platform of the request. */
  readonly offered: number;
  /** Null if the mod has no vault. */
  readonly date_opens: number | null;
  readonly date_closes: number | null;
}

const FILE =
  statement(`select f.id, f.mod_id, f.game_id, f.date_added, f.filesize, f.virus_status, f.virus_positive, f.sha256,
  f.storage_key, f.filename, g.api_access_options, m.price, m.maturity_option, g.maturity_options, v.date_opens, v.date_closes,
  case when ${IS_PUBLIC_FILE} and ${RUNS_ON_PLATFORM} then 1 else 0 end as offered
  from modfiles f join mods m on m.id = f.mod_id join games g on g.id = f.game_id left join mod_vaults v on v.mod_id = f.mod_id
  where f.id = ? and f.kind = 'file' and f.status = 1 and f.withdrawn = 0`);
/** Undefined also if the file was deleted or withdrawn. */
export const fileOf = (db: Pick<Database, 'first'>, id: number, platform: string) =>
  db.first<FileRow>(FILE, [...forPlatform(platform), id]);

const MATURE = statement('select mature_content from users where id = ?');
export const wantsMatureContent = async (db: Pick<Database, 'first'>, userId: number): Promise<boolean> =>
  (await db.first<{ mature_content: number }>(MATURE, [userId]))?.mature_content === 1;

const SINCE = statement(`select 1 as found from counted_downloads
  where mod_id = ? and platform = ? and address = ? and date_counted > ?`);
const MARK = statement(`insert into counted_downloads (mod_id, platform, address, date_counted) values (?, ?, ?, ?)
  on conflict (mod_id, platform, address) do nothing returning mod_id`);

/** Returns false if the download is already marked, also under yesterday’s digest of the address. */
export async function mark(
  transaction: Transaction,
  { mod_id, platform, address, date_counted }: CountedDownloadsTable,
  earlier: { readonly address: string; readonly since: number },
): Promise<boolean> {
  if (await transaction.first(SINCE, [mod_id, platform, earlier.address, earlier.since])) return false;
  return (await transaction.first(MARK, [mod_id, platform, address, date_counted])) !== undefined;
}

const OUTDATED = someOf('counted_downloads', ['mod_id', 'platform', 'address'], 'date_counted <= ?');
export const forgetUntil = (db: Database, date: number) => removeInSteps(db, OUTDATED, [date]);
