import { z } from 'zod';
import { Integer, Timestamp } from '../../platform/http/objects.ts';
import { PART_BYTES } from '../../platform/storage/storage.ts';
import { type ReceivedPart, statusOf, type UploadRow } from './uploads.ts';

export const MultipartUploadObject = z
  .object({
    upload_id: z.string(),
    status: z
      .literal([0, 1, 2, 3, 4])
      .meta({ description: '0 incomplete, 1 pending, 2 processing, 3 complete, 4 cancelled' }),
  })
  .meta({ id: 'MultipartUpload' });

export const MultipartUploadPartObject = z
  .object({
    upload_id: z.string(),
    part_number: Integer.meta({ description: 'Counts from 1.' }),
    part_size: Integer,
    date_added: Timestamp,
  })
  .meta({ id: 'MultipartUploadPart' });

export const MultipartUploadLinkObject = z
  .object({
    upload_id: z.string(),
    part_number: Integer.meta({ description: 'Counts from 1.' }),
    url: z.string().meta({
      description: 'Accepts the bytes of the part by PUT, without credentials. Empty if the part has to be sent here.',
    }),
    date_expires: Timestamp,
  })
  .meta({ id: 'MultipartUploadLink' });

/** The headers of a part, for uploads of users and of runners. */
export const PART_HEADERS = {
  'content-range': {
    required: true,
    says: 'The range of these bytes in the file, from 0: `bytes 0-52428799/104857600`.',
  },
  digest: { says: 'One checksum of the part: `sha-256=…` or `crc32c=…`, in hexadecimal or base64.' },
} as const;
export const PART_BODY = { bytesMax: PART_BYTES, says: 'The raw bytes of the part.' };

export const toMultipartUpload = (upload: UploadRow, now: number) => ({
  upload_id: upload.upload_id,
  status: statusOf(upload, now) as z.input<typeof MultipartUploadObject>['status'],
});

export const toMultipartUploadPart = (part: ReceivedPart): z.input<typeof MultipartUploadPartObject> => ({
  upload_id: part.upload_id,
  part_number: part.part_number,
  part_size: part.bytes,
  date_added: part.date_added,
});
