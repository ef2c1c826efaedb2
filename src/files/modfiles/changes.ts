import { z } from 'zod';
import { PLATFORMS } from '../../platform/vocabulary/game-platforms.ts';

const VERSION_MAX = 50;
const TEXT_MAX = 50_000;

const texts = {
  version: z.string().trim().max(VERSION_MAX).meta({ description: 'Best as MAJOR.MINOR.PATCH.' }),
  changelog: z.string().max(TEXT_MAX),
  metadata_blob: z.string().max(TEXT_MAX),
};

/** Clients send platform names in any case, and an empty list as a list with one empty name. */
const PlatformNames = z
  .array(z.union([z.string().trim().toLowerCase().pipe(z.enum(PLATFORMS)), z.literal('')]))
  .max(PLATFORMS.length)
  .transform((names) => [...new Set(names.filter((name) => name !== ''))]);

/** The fields of a new file besides its bytes. Other fields of the request are ignored. */
export const NewModfileBody = z
  .object({
    ...texts,
    filehash: z
      .string()
      .regex(/^[0-9a-f]{32}$/i)
      .meta({ description: 'The MD5 of the file. A file with a different MD5 is refused as corrupted.' }),
    platforms: PlatformNames.meta({
      description: 'The platforms of the file. Default: all platforms of the game that are not locked.',
    }),
  })
  .partial()
  .extend({
    upload_id: z
      .string()
      .trim()
      .toLowerCase()
      .optional()
      .meta({ description: 'The id of a complete upload session of this mod, instead of `filedata`.' }),
    active: z.boolean().default(true).meta({ description: 'Make it the live file.' }),
  });

/** The fields of a new source: those of a file, but for locked platforms. */
export const NewSourceBody = NewModfileBody.extend({
  platforms: PlatformNames.optional().meta({
    description: 'The platforms to cook the source for. Default: all locked platforms of the game.',
  }),
  active: z.boolean().default(true).meta({ description: 'Make the cooked files live.' }),
});

export const ModfileChangesBody = z
  .object({ ...texts, active: z.boolean().meta({ description: 'Whether it is the live file.' }) })
  .partial();

export const DecisionsBody = z.object({ approved: PlatformNames.default([]), denied: PlatformNames.default([]) });
