/** `status` of a cook, as the API tells it. */
export const COOK = { WAITING: 0, COOKING: 1, SUCCEEDED: 2, FAILED: 3, CANCELLED: 4 } as const;

/** Why a cook failed, as its metadata tells it: a word, so that every client can say it in its own language. */
export const FAILURE = {
  RUNNER: 'failed',
  LEASE: 'lease_expired',
  SOURCE: 'source_unavailable',
  SERVICE: 'service_reported',
} as const;

/** What wakes runners that wait for work. */
export const cooksScope = (gameId: number) => `games/${gameId}/cooks`;
