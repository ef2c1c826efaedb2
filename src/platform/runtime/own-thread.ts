import { readlinkSync } from 'node:fs';

/** The number that Linux gives the calling thread. Other systems have no such file, and it throws. */
export function ownThread(): number {
  const [, , thread] = readlinkSync('/proc/thread-self').split('/');
  return Number(thread);
}
