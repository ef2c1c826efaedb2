import { ApiError } from '../../platform/errors/catalogue.ts';
import type { Part } from '../../platform/storage/storage.ts';

export const FILE_BYTES_MAX = 20 * 1024 ** 3;

/** A part, and the length of its file. */
export interface PartOfWhole extends Part {
  readonly total: number;
}

const DIGITS_MAX = 15;

/** Parses a range such as `bytes 0-52428799/104857600` into the part and the length of its file. */
export function partOfRange(header: string | undefined, partBytes: number): PartOfWhole {
  const [start, end, total] = numbersOf(header);
  if (end >= total) throw new ApiError('MULTIPART_UPLOAD_FINISH_BYTE_INVALID');
  if (start > end || start % partBytes !== 0) throw new ApiError('MULTIPART_UPLOAD_CONTENT_RANGE_INVALID');
  const bytes = end - start + 1;
  const isLast = end === total - 1;
  if (bytes > partBytes || (bytes < partBytes && !isLast)) throw new ApiError('MULTIPART_UPLOAD_PART_SIZE_INVALID');
  if (total > FILE_BYTES_MAX)
    throw new ApiError('VALIDATION_GENERIC', {
      fields: [{ field: 'file', rule: 'file_max', values: { max: '20 GB' } }],
    });
  return { number: start / partBytes + 1, start, bytes, total };
}

function numbersOf(header: string | undefined): [start: number, end: number, total: number] {
  if (!header?.trim()) throw new ApiError('MULTIPART_UPLOAD_CONTENT_RANGE_MISSING');
  const [, unit, range = ''] = /^\s*(\S+)\s+(.*?)\s*$/.exec(header) ?? [];
  if (!unit) throw new ApiError('MULTIPART_UPLOAD_CONTENT_RANGE_REGEX_FAILED');
  if (unit.toLowerCase() !== 'bytes') throw new ApiError('MULTIPART_UPLOAD_CONTENT_RANGE_UNIT_INVALID');
  const pieces = /^(?:(\*)|([^\s/-]*)-([^\s/-]*))\/([^\s/-]*)$/.exec(range);
  if (!pieces) throw new ApiError('MULTIPART_UPLOAD_CONTENT_RANGE_REGEX_FAILED');
  const [, star, start = '', end = '', total = ''] = pieces;
  const texts = [start, end, total];
  if (star || texts.some((text) => text === '' || text === '*'))
    throw new ApiError('MULTIPART_UPLOAD_CONTENT_RANGE_NOT_EXPLICIT');
  if (texts.some((text) => !/^\d+$/.test(text))) throw new ApiError('MULTIPART_UPLOAD_CONTENT_RANGE_NON_NUMERIC');
  if (texts.some((text) => text.length > DIGITS_MAX)) throw new ApiError('MULTIPART_UPLOAD_CONTENT_RANGE_INVALID');
  return [Number(start), Number(end), Number(total)];
}
