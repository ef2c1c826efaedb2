import { z } from 'zod';

export const FORMAT = 'modstead-archive';
export const VERSION = 1;
export const MANIFEST = 'manifest.json';
export const SIGNATURE = 'manifest.sig';
export const ROWS_FOLDER = 'rows/';
export const FILES_FOLDER = 'files/';
/** The kind whose lines are the digests of the files. */
export const FILES_KIND = 'files';

/** The kind whose lines are complete lists of ids at the source: what is missing in them is gone there. */
export const LISTED_KIND = 'listed';
/** The kind whose lines are what the source has no longer. */
export const GONE_KIND = 'gone';

const SourceId = z.int().min(0);
export const Listed = z.strictObject({
  kind: z.string(),
  of: z.string().meta({ description: 'The kind that the listed rows belong to.' }),
  of_id: SourceId,
  ids: z.array(SourceId),
  after: SourceId.optional().meta({ description: 'The list is complete for larger ids than this one.' }),
  until: SourceId.optional().meta({ description: 'The list is complete up to this id.' }),
  live: z
    .array(z.string())
    .optional()
    .meta({ description: 'Of a list of modfiles: the platforms that have a live file, "" for none in particular.' }),
});
export type Listed = z.infer<typeof Listed>;
export const Gone = z.strictObject({ kind: z.string(), id: SourceId, state: z.enum(['deleted', 'hidden']) });
export type Gone = z.infer<typeof Gone>;

const Digest = z.string().regex(/^[0-9a-f]{64}$/);

export const Part = z.object({
  name: z.string(),
  kind: z.string(),
  rows: z.int().min(0),
  bytes: z.int().min(0),
  sha256: Digest,
});
export type Part = z.infer<typeof Part>;

export const Manifest = z.object({
  format: z.literal(FORMAT),
  version: z.literal(VERSION),
  source: z
    .string()
    .min(1)
    .max(200)
    .meta({ description: 'Where the ids come from. Archives with the same source update each other’s rows.' }),
  product: z.string().optional().meta({ description: 'The program that wrote it.' }),
  date: z.int().min(0).optional().meta({ description: 'Unix seconds of the snapshot.' }),
  game: z.int().min(1).optional().meta({ description: 'The only game of the archive.' }),
  people: z
    .boolean()
    .optional()
    .meta({ description: 'Whether it includes addresses, subscriptions, ratings and the like.' }),
  counted: z
    .boolean()
    .optional()
    .meta({ description: 'Totals in the rows are complete; otherwise an import counts them.' }),
  parts: z.array(Part).optional().meta({ description: 'Without it an import takes every file in rows/.' }),
  missing: z.array(z.string()).optional().meta({ description: 'Files that rows name but the source did not have.' }),
  left: z
    .record(z.string(), z.string())
    .optional()
    .meta({ description: 'What the archive does not contain, and why.' }),
  public_key: z.string().optional().meta({ description: 'Ed25519, base64url; signs the bytes of this file.' }),
});
export type Manifest = z.infer<typeof Manifest>;

const PART_NAME = /^rows\/([a-z][a-z0-9_]*)(?:\.\d{1,9})?\.jsonl$/;

/** `rows/mods.jsonl` or `rows/mods.00001.jsonl`. */
export const kindOf = (name: string): string | undefined => PART_NAME.exec(name)?.[1];

export const partName = (kind: string, number: number): string =>
  `${ROWS_FOLDER}${kind}.${String(number).padStart(5, '0')}.jsonl`;
