import about from '../../../package.json' with { type: 'json' };
import { personalData } from '../../composition/resources.ts';
import type { App } from '../../platform/app.ts';
import { isMoved } from '../../platform/manifest/treatment.ts';
import {
  FILES_FOLDER,
  FILES_KIND,
  FORMAT,
  MANIFEST,
  type Manifest,
  type Part,
  partName,
  SIGNATURE,
  VERSION,
} from '../archive/manifest.ts';
import { signerOf } from '../archive/signature.ts';
import type { Sink } from '../archive/sink.ts';
import { referencesOf } from '../tables/references.ts';
import { schemaOf } from '../tables/schema.ts';
import { TREATMENTS, treatmentOf } from '../tables/treatments.ts';
import { type KeyList, keepKeys } from './key-list.ts';
import { type Selected, selectionOf, type Wanted } from './selection.ts';
import { openSnapshot, type Row, type Snapshot } from './snapshot.ts';

export interface Exported {
  readonly rows: number;
  readonly files: number;
  readonly bytes: number;
  readonly missing: readonly string[];
  readonly publicKey: string;
}

export interface ExportOptions extends Wanted {
  readonly progress?: (table: string, rows: number) => void;
}

/** Writes one consistent snapshot. Files come after the rows that name them. */
export async function exportArchive(app: App, sink: Sink, options: ExportOptions): Promise<Exported> {
  const schema = await schemaOf(app.db);
  const selection = selectionOf(schema, referencesOf(schema, personalData), options);
  const parts = new Parts(sink);
  const keys = await exportRows(app, parts, selection, options);
  try {
    const files = await exportFiles(app, keys, sink, parts);
    const signer = signerOf(app.secrets);
    const manifest = manifestOf(app, options, parts.list, files.missing, signer.publicKey);
    const text = Buffer.from(`${JSON.stringify(manifest, undefined, 1)}\n`);
    await sink.add(MANIFEST, text.length, [text]);
    const signature = Buffer.from(`${signer.sign(text)}\n`);
    await sink.add(SIGNATURE, signature.length, [signature]);
    return { rows: parts.rows - files.files, ...files, publicKey: signer.publicKey };
  } finally {
    await keys.remove();
  }
}

/**
 * Writes the rows, and returns what they name. The snapshot ends here, because copying files can take hours, in which SQLite
 * could not shorten its log and PostgreSQL could not remove dead rows.
 */
async function exportRows(
  app: App,
  parts: Parts,
  selection: readonly Selected[],
  { progress }: ExportOptions,
): Promise<KeyList> {
  const snapshot = await openSnapshot(app);
  try {
    for (const each of selection) {
      await parts.write(each.table.name, rowsOf(snapshot, each));
      progress?.(each.table.name, parts.rows);
    }
    return await keepKeys(keysOf(snapshot, selection));
  } finally {
    await snapshot.close();
  }
}

function manifestOf(
  app: App,
  { game, people }: Wanted,
  parts: readonly Part[],
  missing: string[],
  publicKey: string,
): Manifest {
  const omitted = [...TREATMENTS].flatMap(([name, treatment]) =>
    isMoved(treatment) ? [] : [[name, 'left' in treatment ? treatment.left : `rebuilt from ${treatment.rebuilt}`]],
  );
  return {
    format: FORMAT,
    version: VERSION,
    source: app.addresses.site,
    product: `modstead ${about.version}`,
    date: app.clock.now(),
    ...(game !== undefined && { game }),
    people: people || game === undefined,
    counted: true,
    parts: [...parts],
    missing,
    left: Object.fromEntries(omitted),
    public_key: publicKey,
  };
}

async function* rowsOf(snapshot: Snapshot, { table, select, replaced }: Selected): AsyncGenerator<readonly Row[]> {
  const names = table.columns.map(({ name }) => name);
  for await (const rows of snapshot.rows(select))
    yield rows.map((row) =>
      Object.fromEntries(names.map((name) => [name, name in replaced ? replaced[name]! : row[name]!])),
    );
}

const PART_BYTES = 4 * 1024 ** 2;

/** Divides the lines of a kind into parts of some megabytes, because a tar entry begins with its length. */
class Parts {
  readonly list: Part[] = [];
  readonly #sink: Sink;
  rows = 0;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  async write(kind: string, batches: AsyncIterable<readonly object[]>): Promise<void> {
    let number = 0;
    let lines: string[] = [];
    let length = 0;
    const flush = async () => {
      if (lines.length === 0) return;
      const text = Buffer.from(lines.join(''));
      const name = partName(kind, ++number);
      const sha256 = await this.#sink.add(name, text.length, [text]);
      this.list.push({ name, kind, rows: lines.length, bytes: text.length, sha256 });
      this.rows += lines.length;
      lines = [];
      length = 0;
    };
    for await (const rows of batches)
      for (const row of rows) {
        const line = `${JSON.stringify(row)}\n`;
        lines.push(line);
        length += line.length;
        if (length > PART_BYTES) await flush();
      }
    await flush();
  }
}

async function exportFiles(
  app: App,
  keys: KeyList,
  sink: Sink,
  parts: Parts,
): Promise<{ files: number; bytes: number; missing: string[] }> {
  const counted = { files: 0, bytes: 0, missing: [] as string[] };
  await parts.write(
    FILES_KIND,
    (async function* () {
      for await (const key of objectsOf(app, keys)) {
        const opened = await app.storage.open(key);
        if (!opened) {
          counted.missing.push(key);
          continue;
        }
        const sha256 = await sink.add(`${FILES_FOLDER}${key}`, opened.bytes, opened.stream);
        counted.files += 1;
        counted.bytes += opened.bytes;
        yield [{ name: key, bytes: opened.bytes, sha256 }];
      }
    })(),
  );
  return counted;
}

async function* objectsOf(app: App, keys: KeyList): AsyncGenerator<string> {
  for await (const key of keys.all())
    if (key.endsWith('/')) yield* (await Array.fromAsync(app.storage.list(key))).sort();
    else yield key;
}

/** The stored objects, and with a slash at the end the folders of pictures, that rows of the archive name, each once. */
async function* keysOf(snapshot: Snapshot, selection: readonly Selected[]): AsyncGenerator<string> {
  const isWanted = new Map(selection.map((each) => [each.table.name, each.select]));
  const files = isWanted.get('modfiles');
  if (files)
    for await (const rows of snapshot.rows(
      `select distinct storage_key from (${files}) f where status <> ${FILE_DELETED} order by storage_key`,
    ))
      for (const { storage_key } of rows) yield String(storage_key);
  const folders = selection.flatMap(({ table, select }) => {
    const treatment = treatmentOf(table.name)!;
    const columns = isMoved(treatment) ? (treatment.pictures ?? []) : [];
    return columns.map((column) => `select ${column} as folder from (${select}) t`);
  });
  if (folders.length === 0) return;
  const all = folders.join(' union ');
  for await (const rows of snapshot.rows(`select folder from (${all}) p where folder like 'images/%' order by folder`))
    for (const { folder } of rows) yield `${folder}/`;
}

const FILE_DELETED = 3;
