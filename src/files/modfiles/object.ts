import { z } from 'zod';
import type { ModfileObject } from '../../catalogue/live-files/object.ts';
import type { ArchiveEntry } from '../../platform/archives/archives.ts';
import { Integer } from '../../platform/http/objects.ts';
import type { FilePlatform, ModfileRow } from './store.ts';

// Sources have the same body and the same lists as files.
export { NewSourceBody } from './changes.ts';
export { modfileListing as sourceListing } from './listing.ts';

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

/** The fields of the modfile object that change only with the file itself. */
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

/** Without its closing brace, because the download link is appended when the response is sent. */
export const modfileBody = (file: ModfileRow, platforms: readonly FilePlatform[]): string =>
  JSON.stringify(toModfileBody(file, platforms)).slice(0, -1);
