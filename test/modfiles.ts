import { createHash } from 'node:crypto';
import type { Insertable } from 'kysely';
import type { Tables } from '../src/platform/database/database.ts';
import type { Api, Mod } from './api.ts';

export interface StoredModfile {
  readonly id: number;
  readonly mod_id: number;
  readonly game_id: number;
  readonly sha256: string;
  readonly storage_key: string;
  readonly content: Buffer;
}

/** Inserts a modfile in the state after its upload, with arbitrary content. */
export async function aModfile(
  api: Api,
  mod: Mod,
  content: string | Buffer = 'PK: the bytes of a mod',
  columns: Partial<Insertable<Tables['modfiles']>> = {},
): Promise<StoredModfile> {
  const app = api.app();
  const bytes = Buffer.from(content);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const storage_key = `modfiles/${sha256.slice(0, 2)}/${sha256}`;
  const { md5 } = await app.storage.put(storage_key, bytes);
  const now = app.clock.now();
  const row = {
    mod_id: mod.id,
    game_id: mod.game_id,
    submitted_by: mod.owner.id,
    kind: 'file' as const,
    date_added: now,
    date_updated: now,
    date_scanned: 0,
    virus_status: 0,
    virus_positive: 0,
    filesize: bytes.length,
    filesize_uncompressed: bytes.length,
    status: 1,
    withdrawn: 0,
    released: 1,
    virustotal_hash: null,
    md5,
    sha256,
    storage_key,
    filename: 'mod.zip',
    filename_folded: 'mod.zip',
    version: '',
    version_folded: '',
    changelog: '',
    changelog_folded: '',
    metadata_blob: '',
    metadata_blob_folded: '',
    ...columns,
  };
  const { id } = await app.db.write((transaction) =>
    transaction.query.insertInto('modfiles').values(row).returning('id').executeTakeFirstOrThrow(),
  );
  return { id, mod_id: mod.id, game_id: mod.game_id, sha256, storage_key, content: bytes };
}

export async function changeModfile(
  api: Api,
  { id }: StoredModfile,
  columns: Partial<Insertable<Tables['modfiles']>>,
): Promise<void> {
  await api
    .app()
    .db.write((transaction) => transaction.query.updateTable('modfiles').set(columns).where('id', '=', id).execute());
}
