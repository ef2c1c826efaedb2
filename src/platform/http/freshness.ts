/** How long a response stays true. */
export interface Freshness {
  readonly scopes: readonly string[];
  /** `Changes.now()` before the first read for the response. */
  readonly asOf: number;
  /** Unix seconds; the response is stale from then on. */
  readonly until: number;
}
