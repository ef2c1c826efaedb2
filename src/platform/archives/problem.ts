import type { FieldProblem } from '../errors/catalogue.ts';

export type ArchiveReason =
  | 'type'
  | 'empty'
  | 'damaged'
  | 'hidden_data'
  | 'overlap'
  | 'mismatch'
  | 'content'
  | 'path'
  | 'name'
  | 'name_encoding'
  | 'name_length'
  | 'duplicate'
  | 'link'
  | 'encrypted'
  | 'method'
  | 'entries'
  | 'bytes'
  | 'ratio'
  | 'nesting'
  | 'extension'
  | 'comment';

interface Details {
  /** The path of the faulty entry, as in the archive. */
  readonly entry?: string;
  /** The limit that was exceeded. */
  readonly max?: number | string;
  readonly cause?: unknown;
}

const SHOWN_CHARACTERS_MAX = 120;

/** The reason for refusing an archive. Always a fault of its bytes, never of the service. */
export class ArchiveProblem extends Error {
  override readonly name = 'ArchiveProblem';
  readonly reason: ArchiveReason;
  readonly entry: string | undefined;
  readonly max: number | string | undefined;

  constructor(reason: ArchiveReason, { entry, max, cause }: Details = {}) {
    super(entry === undefined ? reason : `${reason}: ${toShown(entry)}`, cause === undefined ? undefined : { cause });
    this.reason = reason;
    this.entry = entry;
    this.max = max;
  }
}

/** The validation error for the field of the file, in words that its author understands. */
export function toFieldProblem(field: string, { reason, entry, max }: ArchiveProblem): FieldProblem {
  const values = { ...(entry !== undefined && { entry: toShown(entry) }), ...(max !== undefined && { max }) };
  return { field, rule: `archive_${reason}`, values };
}

/** Names are untrusted and may contain bidirectional control characters. */
function toShown(name: string): string {
  const plain = name.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\ufffd');
  const characters = [...plain.slice(0, SHOWN_CHARACTERS_MAX * 2)];
  return characters.length > SHOWN_CHARACTERS_MAX ? `${characters.slice(0, SHOWN_CHARACTERS_MAX).join('')}…` : plain;
}
