import { findUser, USER_DELETED } from '../../people/users/users.ts';
import type { App } from '../../platform/app.ts';
import { exportedRows, type PersonalColumn } from '../../platform/database/personal.ts';
import { languageOf } from '../../platform/localisation/languages.ts';
import { localise } from '../../platform/localisation/texts.ts';
import { personalDataOf } from '../../platform/personal-data.ts';
import { EXPORT_DAYS, exportAddress } from './exports.ts';
import * as store from './store.ts';

const ROWS_AT_ONCE = 200;

/** Writes the export to a file row by row, and mails the download link to the user. */
export async function gatherExport(app: App, id: number): Promise<void> {
  const wanted = await store.byId(app.db.query, id);
  if (!wanted || wanted.storage_key !== null || wanted.date_expires <= app.clock.now()) return;
  const storage_key = `exports/${app.random.uuid()}.json`;
  const { bytes, sha256 } = await app.storage.put(storage_key, textOf(app, wanted.user_id));
  const isWanted = await app.db.write(({ query }) =>
    store.setFile(query, id, app.clock.now(), { storage_key, bytes, sha256 }),
  );
  // The account has ended in the meantime.
  if (!isWanted) return app.storage.remove(storage_key);
  const user = await findUser(app, wanted.user_id);
  if (!user || user.status === USER_DELETED || user.email === null) return;
  const language = languageOf(user.language) ?? 'en';
  await app.mail.send({
    to: user.email,
    subject: localise('data_export_mail_subject', language),
    text: localise('data_export_mail_text', language, { days: EXPORT_DAYS, link: exportAddress(app, id) }),
  });
}

/** A table that references users by several columns gets a list per column: `follows` and `follows.followed_id`. */
function* exportedLists(app: App): Generator<{ name: string; each: PersonalColumn; exported: readonly string[] }> {
  const names = new Set<string>();
  for (const each of app.extensions.of(personalDataOf).flatMap(({ columns }) => columns)) {
    if ('notExported' in each.exported) continue;
    const name = names.has(each.table) ? `${each.table}.${each.column}` : each.table;
    names.add(name);
    yield { name, each, exported: each.exported };
  }
}

async function* textOf(app: App, userId: number): AsyncGenerator<Uint8Array> {
  let before = '{';
  for (const { name, each, exported } of exportedLists(app)) {
    yield Buffer.from(`${before}\n${JSON.stringify(name)}: [`);
    let separator = '';
    for await (const rows of pagesOf(app, each, exported, userId)) {
      yield Buffer.from(`${separator}\n${rows.map((row) => JSON.stringify(row)).join(',\n')}`);
      separator = ',';
    }
    before = '],';
  }
  yield Buffer.from(']\n}\n');
}

/** Tables with an id use keyset pagination. The others have few rows per user, so an offset is enough. */
async function* pagesOf(app: App, each: PersonalColumn, exported: readonly string[], userId: number) {
  const hasId = exported.includes('id');
  let after = 0;
  for (let offset = 0; ; offset += ROWS_AT_ONCE) {
    const page = hasId ? { limit: ROWS_AT_ONCE, after } : { limit: ROWS_AT_ONCE, offset };
    const rows = await exportedRows(app.db.query, each, exported, userId, page);
    if (rows.length > 0) yield rows;
    if (rows.length < ROWS_AT_ONCE) return;
    after = Number(rows.at(-1)!['id']);
  }
}
