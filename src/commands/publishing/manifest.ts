import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { PLATFORMS } from '../../platform/vocabulary/game-platforms.ts';
import { misuse } from '../invocation/command.ts';
import type { Message } from '../invocation/messages.ts';

export const MANIFEST = 'modstead.json';

/** What is published, from the manifest with the options of the command line on top. */
export interface Manifest {
  url?: string;
  game?: number;
  mod?: number | string;
  name?: string;
  summary?: string;
  description?: string;
  homepage_url?: string;
  logo?: string;
  visible?: boolean;
  maturity_option?: number;
  tags?: string[];
  metadata?: Record<string, string | string[]>;
  metadata_blob?: string;
  dependencies?: (number | string)[];
  version?: string;
  changelog?: string;
  file_metadata_blob?: string;
  platforms?: string[];
}

interface Schema {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly minimum?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | false;
}

const texts = { type: 'string', minLength: 1 } as const;

const FIELDS: { readonly [Name in keyof Required<Manifest>]: Schema & { readonly description: string } } = {
  url: { type: 'string', pattern: '^https?://', description: 'The address of the service.' },
  game: { type: 'integer', minimum: 1, description: 'The id of the game.' },
  mod: {
    type: ['integer', 'string'],
    minimum: 1,
    minLength: 1,
    description: 'The id of the mod, or its name_id. A name_id that the author has no mod with is created.',
  },
  name: { ...texts, description: 'The name of the mod.' },
  summary: { ...texts, description: 'One or two sentences about the mod.' },
  description: { type: 'string', description: 'The description, in the HTML that the service allows.' },
  homepage_url: { type: 'string', description: 'The home page of the mod; empty for none.' },
  logo: {
    ...texts,
    description:
      'The path of an image of at least 512 by 288 pixels, relative to the manifest. Used when the mod is created.',
  },
  visible: { type: 'boolean', description: 'Whether others than the team see the mod.' },
  maturity_option: { type: 'integer', minimum: 0, description: 'Bits: 1 alcohol, 2 drugs, 4 violence, 8 explicit.' },
  tags: { type: 'array', items: texts, description: 'All tags of the mod.' },
  metadata: {
    type: 'object',
    additionalProperties: { type: ['string', 'array'], items: { type: 'string' } },
    description: 'All metadata of the mod: a value, or a list of values, per key.',
  },
  metadata_blob: { type: 'string', description: 'Metadata of the mod that the game reads as one text.' },
  dependencies: {
    type: 'array',
    items: { type: ['integer', 'string'], minimum: 1, minLength: 1 },
    description: 'All mods that this one needs, by id or name_id.',
  },
  version: { ...texts, description: 'The version of the file, best as MAJOR.MINOR.PATCH.' },
  changelog: { type: 'string', description: 'What this version changes.' },
  file_metadata_blob: { type: 'string', description: 'Metadata of the file that the game reads as one text.' },
  platforms: {
    type: 'array',
    items: { type: 'string', enum: PLATFORMS },
    description: 'The platforms of the file. Default: all open platforms of the game.',
  },
};

/** The JSON Schema of the manifest; `npm run docs` writes it to docs/modstead.schema.json. */
export const manifestSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'modstead.json',
  description: 'What "modstead publish" publishes.',
  type: 'object',
  properties: { $schema: { type: 'string' }, ...FIELDS },
  additionalProperties: false,
} as const;

/** The manifest that belongs to a folder or an archive, with paths that no longer depend on its folder. */
export function readManifest(source: string, given: string | undefined): Manifest {
  const inside = statSync(source).isDirectory() ? source : dirname(resolve(source));
  const file = given ?? join(inside, MANIFEST);
  if (!existsSync(file)) {
    if (given === undefined) return {};
    throw misuse({ name: 'path_missing', values: { path: given } });
  }
  const { logo, ...manifest } = checked(parsed(file), file);
  return { ...manifest, ...(logo !== undefined && { logo: resolve(dirname(file), logo) }) };
}

function parsed(file: string): unknown {
  const text = readFileSync(file, 'utf8');
  try {
    return JSON.parse(text);
  } catch (error) {
    const at = Number(/at position (\d+)/.exec((error as Error).message)?.[1] ?? text.length);
    const lines = text.slice(0, at).split('\n');
    const values = { path: file, line: lines.length, column: lines.at(-1)!.length + 1 };
    throw misuse({ name: 'manifest_not_json', values });
  }
}

/** Names every field that does not fit. */
function checked(value: unknown, file: string): Manifest {
  if (typeOf(value) !== 'object') throw misuse({ name: 'manifest_not_object', values: { path: file } });
  const { $schema: _, ...fields } = value as Record<string, unknown>;
  const problems = Object.entries(fields).flatMap(([name, content]) =>
    Object.hasOwn(FIELDS, name)
      ? problemsOf(FIELDS[name as keyof Manifest], content, name)
      : [{ name: 'manifest_field_unknown', values: { field: name } } as const],
  );
  if (problems.length > 0) throw misuse({ name: 'manifest_wrong', values: { path: file } }, ...problems);
  return fields as Manifest;
}

function problemsOf(schema: Schema, value: unknown, name: string): Message[] {
  const type = typeOf(value);
  const types = [schema.type ?? type].flat();
  if (!types.includes(type)) return [{ name: TYPE_TEXTS[types.join()]!, values: { field: name } }];
  if (Array.isArray(value))
    return schema.items ? value.flatMap((item, index) => problemsOf(schema.items!, item, `${name}[${index}]`)) : [];
  if (type === 'object')
    return schema.additionalProperties
      ? Object.entries(value as object).flatMap(([key, item]) =>
          problemsOf(schema.additionalProperties as Schema, item, `${name}.${key}`),
        )
      : [];
  const problem = typeof value === 'string' ? textProblem(schema, value, name) : numberProblem(schema, value, name);
  return problem ? [problem] : [];
}

function textProblem(
  { minLength = 0, pattern, enum: values }: Schema,
  value: string,
  field: string,
): Message | undefined {
  if (value.length < minLength) return { name: 'manifest_empty', values: { field } };
  if (pattern && !new RegExp(pattern).test(value)) return { name: 'manifest_address', values: { field } };
  if (values && !values.includes(value)) return { name: 'manifest_one_of', values: { field, values: { any: values } } };
  return undefined;
}

const numberProblem = ({ minimum }: Schema, value: unknown, field: string): Message | undefined =>
  minimum !== undefined && (value as number) < minimum
    ? { name: 'manifest_minimum', values: { field, minimum } }
    : undefined;

const TYPE_TEXTS: Readonly<Record<string, Message['name']>> = {
  string: 'manifest_text',
  integer: 'manifest_number',
  boolean: 'manifest_switch',
  array: 'manifest_list',
  object: 'manifest_object',
  'integer,string': 'manifest_number_or_text',
  'string,array': 'manifest_text_or_list',
};

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isSafeInteger(value) ? 'integer' : typeof value;
}
