/** The `status` of a cook in the API. */
export const COOK = { WAITING: 0, COOKING: 1, SUCCEEDED: 2, FAILED: 3, CANCELLED: 4 } as const;

/** Why a cook failed: a keyword in its metadata, which every client can localise. */
export const FAILURE = {
  RUNNER: 'failed',
  LEASE: 'lease_expired',
  SOURCE: 'source_unavailable',
  SERVICE: 'service_reported',
} as const;

/** The scope that wakes runners that wait for cooks. */
export const cooksScope = (gameId: number) => `games/${gameId}/cooks`;
