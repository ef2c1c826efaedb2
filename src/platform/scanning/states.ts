/** The progress of a file's scan, as in the API. */
export const VIRUS_STATUS = {
  NOT_SCANNED: 0,
  SCANNED: 1,
  SCAN_IN_PROGRESS: 2,
  FILE_TOO_LARGE: 3,
  FILE_NOT_FOUND: 4,
  SCAN_ERROR: 5,
} as const;
export type VirusStatus = (typeof VIRUS_STATUS)[keyof typeof VIRUS_STATUS];

/** The result of the scan, as in the API. `NONE` means clean only if the status is `SCANNED`. */
export const VIRUS_POSITIVE = { NONE: 0, THREAT: 1, POTENTIALLY_HARMFUL: 2 } as const;
export type VirusPositive = (typeof VIRUS_POSITIVE)[keyof typeof VIRUS_POSITIVE];

interface Scanned {
  readonly virus_status: number;
  readonly virus_positive: number;
}

/** True if scanning does not prevent the download of a file. */
export function isScanPassed(
  { virus_status: status, virus_positive: positive }: Scanned,
  { clamd, downloadUnscanned }: { clamd?: string | undefined; downloadUnscanned: 'on' | 'off' },
): boolean {
  if (positive === VIRUS_POSITIVE.THREAT) return false;
  return status === VIRUS_STATUS.SCANNED || clamd === undefined || downloadUnscanned === 'on';
}
