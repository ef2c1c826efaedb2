import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

/** How connections open a database file. */
export interface SqliteFile {
  readonly location: string;
  readonly readOnly: boolean;
}

const UNWRITABLE = new Set(['EROFS', 'EACCES', 'EPERM']);
/** A read-only file, an I/O error such as a missing index of the log, a full disk, and a file that cannot be created. */
const OPENING_FAILURES = new Set([8, 10, 13, 14]);

/** Opens or creates the file. If its disk is full or read-only, an existing database is opened for reading alone. */
export function sqliteFile(file: string): SqliteFile {
  if (!existsSync(file)) mkdirSync(dirname(file), { recursive: true });
  else if (!canWrite(file) || !canOpen(file)) return { location: withoutLog(file), readOnly: true };
  return { location: file, readOnly: false };
}

function canWrite(file: string): boolean {
  try {
    accessSync(file, constants.W_OK);
    accessSync(dirname(file), constants.W_OK);
    return true;
  } catch (error) {
    if (!UNWRITABLE.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return false;
  }
}

/** Reading a page makes SQLite create the index of its log, for which a full disk has no room. */
function canOpen(file: string): boolean {
  const db = new DatabaseSync(file, { timeout: 10_000 });
  try {
    db.exec('pragma journal_mode = wal; select 1 from sqlite_master limit 1');
    return true;
  } catch (error) {
    if (!OPENING_FAILURES.has(((error as { errcode?: number }).errcode ?? 0) & 0xff)) throw error;
    return false;
  } finally {
    db.close();
  }
}

/**
 * After a clean end there is no log, and only as an immutable file can the database be read without creating one. What a
 * crash left in the log is read through the index that it left as well.
 */
function withoutLog(file: string): string {
  const isEmpty = (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0;
  return isEmpty ? `${pathToFileURL(resolve(file)).href}?immutable=1` : file;
}
