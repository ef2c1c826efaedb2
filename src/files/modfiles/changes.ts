import { z } from 'zod';
import { PLATFORMS } from '../../platform/vocabulary/game-platforms.ts';

const VERSION_MAX = 50;
const TEXT_MAX = 50_000;

const texts = {
  version: z.string().trim().max(VERSION_MAX).meta({ description: 'Best as MAJOR.MINOR.PATCH.' }),
  changelog: z.string().max(TEXT_MAX),
  metadata_blob: z.string().max(TEXT_MAX),
};

/** Clients write platforms in any case, and an empty list as one with an empty name. */
const PlatformNames = z
  .array(z.union([z.string().trim().toLowerCase().pipe(z.enum(PLATFORMS)), z.literal('')]))
  .max(PLATFORMS.length)
  .transform((names) => [...new Set(names.filter((name) => name !== ''))]);

/** What is told of a new file besides its bytes. Anything not listed here is not taken from a request. */
export const NewModfileBody = z
  .object({
    ...texts,
    filehash: z
      .string()
      .regex(/^[0-9a-f]{32}$/i)
      .meta({ description: 'The MD5 of the file; a file with another one is refused as corrupted.' }),
    platforms: PlatformNames.meta({
      description: 'What the file is for; all platforms of the game that are not locked unless given.',
    }),
  })
  .partial()
  .extend({
    upload_id: z
      .string()
      .trim()
      .toLowerCase()
      .optional()
      .meta({ description: 'Of a complete upload session of this mod, in place of `filedata`.' }),
    active: z.boolean().default(true).meta({ description: 'Make it the live file.' }),
  });

/** What is told of a new source: the same, for the platforms that are locked. */
export const NewSourceBody = NewModfileBody.extend({
  platforms: PlatformNames.optional().meta({
    description: 'What shall be made of the source; all locked platforms of the game unless given.',
  }),
  active: z.boolean().default(true).meta({ description: 'Make what becomes of it live.' }),
});

export const ModfileChangesBody = z
  .object({ ...texts, active: z.boolean().meta({ description: 'Make it the live file, or no longer.' }) })
  .partial();

export const DecisionsBody = z.object({ approved: PlatformNames.default([]), denied: PlatformNames.default([]) });
