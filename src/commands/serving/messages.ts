import type { Environment } from '../../platform/config/addresses.ts';
import type { Settings } from '../../platform/config/settings.ts';
import type { Downward, Upward } from '../../platform/runtime/siblings.ts';

/** The first of the listening sockets in a process of the service, after the standard streams and the channel. */
export const FIRST_LISTEN_FD = 4;

/** What a process needs besides its environment variables. */
export interface StartOrder {
  readonly kind: 'start';
  readonly count: number;
  /** The number of listening sockets that the process inherits. */
  readonly sockets: number;
  readonly overrides: Pick<Settings, 'port' | 'payments'>;
  /** The environment that sample content is added to; only the first process of a service adds it. */
  readonly demo: Environment | undefined;
}

export interface Started {
  readonly kind: 'started';
  readonly certificateFile: string | undefined;
  /** The state of the sample content, for the output of the command. */
  readonly demo: unknown;
}

export type ToProcess = StartOrder | { readonly kind: 'stop' } | Downward;
export type FromProcess = Started | Upward;
