import { z } from 'zod';
import type { App } from '../../platform/app.ts';
import type { ArchiveEntry } from '../../platform/archives/archives.ts';
import { Id, Integer, Timestamp } from '../../platform/http/objects.ts';
import { downloadLink, type LinkedFile } from './links.ts';
import type { FilePlatform, ModfileRow } from './store.ts';

// A source is told of, and asked for, as a file is.
export { NewSourceBody } from './changes.ts';
export { modfileListing as sourceListing } from './listing.ts';

export const ModfilePlatformObject = z
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

export const ModfileEntryObject = z
  .object({
    path: z.string().meta({ description: 'Ends in a slash for a folder.' }),
    filesize: Integer,
    filesize_compressed: Integer,
    crc32: z.string(),
  })
  .meta({ id: 'ModfileEntry' });

export const toModfileEntry = (entry: ArchiveEntry): z.input<typeof ModfileEntryObject> => ({
  path: entry.name,
  filesize: entry.bytes,
  filesize_compressed: entry.compressedBytes,
  crc32: entry.crc32.toString(16).padStart(8, '0'),
});

/** What lists of files, and of mods by their files, can be asked about approval. */
export const PlatformStatusQuery = z.object({
  platform_status: z.enum(['pending_only', 'live_and_pending']).optional().meta({
    description: 'Also, or only, what waits for approval on the platform; of that, teams see their own alone.',
  }),
});

/** Everything of the modfile object that changes only with the file itself. */
type ModfileBody = Omit<z.input<typeof ModfileObject>, 'download'>;

function toModfileBody(file: ModfileRow, platforms: readonly FilePlatform[]): ModfileBody {
  return {
    id: file.id,
    mod_id: file.mod_id,
    date_added: file.date_added,
    date_updated: file.date_updated,
    date_scanned: file.date_scanned,
    virus_status: file.virus_status,
    virus_positive: file.virus_positive,
    virustotal_hash: file.virustotal_hash ?? '',
    filesize: file.filesize,
    filesize_uncompressed: file.filesize_uncompressed,
    filehash: { md5: file.md5, sha256: file.sha256 },
    filename: file.filename,
    version: file.version,
    changelog: file.changelog,
    metadata_blob: file.metadata_blob,
    platforms: platforms.map(({ platform, status }) => ({ platform, status })),
  };
}

/** Without its closing brace: the link is put behind it. */
export const modfileBody = (file: ModfileRow, platforms: readonly FilePlatform[]): string =>
  JSON.stringify(toModfileBody(file, platforms)).slice(0, -1);

/** The stored body and its link. */
export function modfileJson(
  app: App,
  file: LinkedFile & { readonly body: string },
  { alone }: { alone: boolean },
): string {
  return `${file.body}${endOfModfile(app, file, { alone })}`;
}

/** What stands behind the stored body. */
export function endOfModfile(app: App, file: LinkedFile, { alone }: { alone: boolean }): string {
  const link = downloadLink(app, file, { alone });
  // An address of the service itself holds nothing that JSON has to escape.
  return `,"download":{"binary_url":"${link.binary_url}","date_expires":${link.date_expires}}}`;
}
