import { z } from 'zod';
import type { App } from '../../platform/app.ts';
import { Id, Integer, Timestamp } from '../../platform/http/objects.ts';
import { downloadLink, type LinkedFile } from './links.ts';

const ModfilePlatformObject = z
  .object({
    platform: z.string(),
    status: Integer.meta({ description: '0 pending, 1 approved, 2 denied, 3 targeted' }),
  })
  .meta({ id: 'ModfilePlatform' });

export const ModfileObject = z
  .object({
    id: Id,
    mod_id: Id,
    date_added: Timestamp,
    date_updated: Timestamp,
    date_scanned: Timestamp,
    virus_status: Integer.meta({
      description: '0 not scanned, 1 scanned, 2 in progress, 3 too large, 4 not found, 5 failed',
    }),
    virus_positive: Integer.meta({ description: '0 no threat found, 1 threat found, 2 potentially harmful' }),
    virustotal_hash: z.string(),
    filesize: Integer,
    filesize_uncompressed: Integer,
    filehash: z.object({ md5: z.string(), sha256: z.string() }).meta({ id: 'Filehash' }),
    filename: z.string(),
    version: z.string(),
    changelog: z.string(),
    metadata_blob: z.string(),
    download: z.object({ binary_url: z.string(), date_expires: Timestamp }).meta({ id: 'Download' }),
    platforms: z.array(ModfilePlatformObject),
  })
  .meta({ id: 'Modfile' });

/** Lists of files, and of mods by their files, filter by approval with it. */
export const PlatformStatusQuery = z.object({
  platform_status: z.enum(['pending_only', 'live_and_pending']).optional().meta({
    description: 'Also, or only, files that await approval on the platform; teams see only their own.',
  }),
});

/** The stored body and its download link. */
export function modfileJson(
  app: App,
  file: LinkedFile & { readonly body: string },
  { alone }: { alone: boolean },
): string {
  return `${file.body}${endOfModfile(app, file, { alone })}`;
}

/** Closes a stored body with its download link. */
export function endOfModfile(app: App, file: LinkedFile, { alone }: { alone: boolean }): string {
  const link = downloadLink(app, file, { alone });
  // Addresses of the service contain no character that JSON escapes.
  return `,"download":{"binary_url":"${link.binary_url}","date_expires":${link.date_expires}}}`;
}
