import type { App } from '../app.ts';
import { extensionPoint } from '../extensions.ts';

export interface SlowRequest {
  /** An operation, or the route of a page. */
  readonly operation: string;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly status: number;
  readonly milliseconds: number;
}

/** Told of what operators want to see later. Observers return at once and never throw. */
export interface TrafficObserver {
  onSlow(app: App, request: SlowRequest): void;
  /** A request was refused because this bucket was empty. */
  onLimited(app: App, bucket: string): void;
}

export const trafficObservers = extensionPoint<TrafficObserver>('traffic observers');
