import { z } from 'zod';
import type { FieldProblem } from '../../platform/errors/catalogue.ts';
import { validationMessage } from '../../platform/errors/messages.ts';
import { Id, Integer, Timestamp } from '../../platform/http/objects.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { PART_BYTES } from '../../platform/storage/storage.ts';
import type { BuildRow, PartRow, Provision } from './builds.ts';

export const CookBuildObject = z
  .object({
    build_id: z.string(),
    game_id: Id,
    state: z
      .enum(['open', 'whole', 'valid', 'invalid'])
      .meta({ description: '`open` until all bytes have arrived, `whole` until it is inspected.' }),
    is_valid: z.boolean(),
    is_live: z.boolean().meta({ description: 'Whether runners get this build.' }),
    problem: z.string().meta({ description: 'The reason why it is invalid; empty otherwise.' }),
    virus_status: Integer.meta({
      description: '0 not scanned, 1 scanned, 2 being scanned, 3 too large to be scanned, 4 file not found, 5 failed',
    }),
    virus_positive: Integer.meta({
      description: '0 nothing found, which means clean only where the status is 1; 1 threat, 2 potentially harmful',
    }),
    date_scanned: Timestamp.meta({ description: 'Unix seconds; 0 if no scan has completed' }),
    findings: z.array(z.object({ kind: Integer, path: z.string(), detail: z.string() })).meta({
      description: 'The findings of the scan with their paths: 1 threat, 2 potentially harmful, 3 not scanned',
    }),
    filename: z.string(),
    filesize: Integer,
    filesize_uncompressed: Integer,
    filehash: z.object({ md5: z.string(), sha256: z.string() }),
    date_added: Timestamp,
    date_updated: Timestamp,
    date_expires: Timestamp.meta({ description: 'When the upload URL expires. Unix seconds' }),
  })
  .meta({ id: 'CookBuild' });

/** A problem is stored as a validation rule and localised for each caller. */
function localisedProblem(problem: string, language: Language): string {
  if (problem === '') return '';
  const { field, rule, values } = JSON.parse(problem) as FieldProblem;
  return validationMessage(rule as Parameters<typeof validationMessage>[0], language, { field, ...values });
}

export const toCookBuild = (build: BuildRow, language: Language): z.input<typeof CookBuildObject> => ({
  build_id: build.build_uuid,
  game_id: build.game_id,
  state: build.state === 'void' ? 'invalid' : build.state,
  is_valid: build.state === 'valid',
  is_live: build.is_live === 1 && build.state === 'valid',
  problem: localisedProblem(build.problem, language),
  virus_status: build.virus_status,
  virus_positive: build.virus_positive,
  date_scanned: build.date_scanned,
  findings: JSON.parse(build.findings),
  filename: build.filename,
  filesize: build.total,
  filesize_uncompressed: build.bytes_uncompressed,
  filehash: { md5: build.md5, sha256: build.sha256 },
  date_added: build.date_added,
  date_updated: build.date_updated,
  date_expires: build.date_expires,
});

export const CookBuildUploadObject = CookBuildObject.extend({
  parts: z
    .array(z.object({ part_number: Integer, start: Integer, part_size: Integer }))
    .meta({ description: 'The parts that have arrived, if it is uploaded in parts.' }),
}).meta({ id: 'CookBuildUpload' });

export const toCookBuildUpload = (build: BuildRow, parts: readonly PartRow[], language: Language) => ({
  ...toCookBuild(build, language),
  parts: parts.map(({ part_number, start, bytes }) => ({ part_number, start, part_size: bytes })),
});

export const CookingSasTokenObject = z
  .object({
    build_id: z.string(),
    url: z.string().meta({ description: 'The URL for the upload with PUT. It needs no further credentials.' }),
    part_size: Integer.meta({ description: 'The length of a part, for uploads in parts.' }),
    webhook_url: z.string(),
    webhook_secret: z
      .string()
      .meta({ description: 'Signs the messages of an external cooking service. It is shown only here.' }),
    date_expires: Timestamp,
  })
  .meta({ id: 'CookingSasToken' });

export const toCookingSasToken = (
  { build, url, webhookSecret }: Provision,
  webhookUrl: string,
): z.input<typeof CookingSasTokenObject> => ({
  build_id: build.build_uuid,
  url,
  part_size: PART_BYTES,
  webhook_url: webhookUrl,
  webhook_secret: webhookSecret,
  date_expires: build.date_expires,
});
