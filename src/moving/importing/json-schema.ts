import { z } from 'zod';
import { isMoved, type Moved } from '../../platform/manifest/treatment.ts';
import { Gone, Listed, Manifest } from '../archive/manifest.ts';
import type { Column, Schema, Table } from '../tables/schema.ts';
import { TREATMENTS } from '../tables/treatments.ts';
import { DEFAULTS } from './defaults.ts';

/** Fields that name a file of the archive, by kind. */
const FILES: Readonly<Record<string, readonly string[]>> = {
  users: ['avatar_file'],
  games: ['icon_file', 'logo_file', 'header_file'],
  mods: ['logo_file'],
  guides: ['logo_file'],
  collections: ['logo_file'],
  modfiles: ['file'],
  mod_media: ['file'],
};

/** Columns that follow from the file. */
const FROM_FILE: Readonly<Record<string, readonly string[]>> = {
  modfiles: ['filesize', 'filesize_uncompressed', 'md5', 'sha256', 'storage_key', 'filename'],
  mod_media: ['kind', 'value'],
};

const CLASSES: Readonly<Record<Moved['moved'], string>> = {
  content: 'Always taken.',
  people: 'Belongs to one person; a game’s archive has it only with --with-people.',
  powers: 'Gives rights over others; taken only with --with-powers.',
  service: 'Taken only by an empty service.',
};

const TYPES = { integer: 'integer', number: 'number', text: 'string' } as const;

/** The JSON Schema of the manifest and of the lines of each kind, from the tables and the defaults. */
export function archiveSchema(schema: Schema): object {
  const kinds = [...TREATMENTS]
    .filter((entry): entry is [string, Moved] => isMoved(entry[1]))
    .map(([name, treatment]) => [name, lineSchema(schema.get(name)!, treatment)] as const);
  const file = {
    description: 'A stored file of an exported archive, in files/ below its name.',
    type: 'object',
    properties: { name: { type: 'string' }, bytes: { type: 'integer' }, sha256: { type: 'string' } },
    required: ['name', 'bytes', 'sha256'],
    additionalProperties: false,
  };
  const lists = [
    [
      'listed',
      described(
        Listed,
        'A complete list of ids at the source: what an earlier archive brought and it lacks is removed.',
      ),
    ],
    ['gone', described(Gone, 'Something that the source has no longer; only mods can be hidden.')],
  ] as const;
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Modstead archive',
    description:
      'The manifest, and under $defs a line of rows/KIND.jsonl for each kind. docs/import-format.md explains it.',
    ...z.toJSONSchema(Manifest, { io: 'input' }),
    $defs: Object.fromEntries(
      [...kinds, ...lists, ['files', file] as const].sort(([one], [other]) => (one < other ? -1 : 1)),
    ),
  };
}

function described(schema: z.ZodType, description: string): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return { description, ...rest };
}

function lineSchema(table: Table, treatment: Moved): object {
  const files = FILES[table.name] ?? [];
  const properties = table.columns.map((column) => [column.name, propertyOf(column)] as const);
  const named = files.map((name) => [name, { type: 'string', description: 'A path below files/.' }] as const);
  return {
    description: CLASSES[treatment.moved],
    type: 'object',
    properties: Object.fromEntries([...properties, ...named]),
    required: table.columns.filter((column) => isRequired(table, column)).map(({ name }) => name),
    additionalProperties: false,
  };
}

const propertyOf = ({ type, isNullable }: Column) => ({ type: isNullable ? [TYPES[type], 'null'] : TYPES[type] });

function isRequired(table: Table, { name, isNullable, value }: Column): boolean {
  const isDerived = name.endsWith('_folded') || (table.hasId && name === 'id') || FROM_FILE[table.name]?.includes(name);
  const hasDefault = value !== undefined || (DEFAULTS[table.name] && name in DEFAULTS[table.name]!({}, 0));
  return !isNullable && !isDerived && !hasDefault;
}
