import { invalidate } from '$app/navigation';

/**
 * Whether the service answers. Loading data without a connection leaves the page, with all that was typed in it and
 * every upload.
 */
export const isReachable = (): Promise<boolean> =>
  fetch('/favicon.svg', { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );

/**
 * Loads what depends on this name again, every so many seconds while the page is visible, and at once when it becomes
 * visible after longer. Returns what ends it.
 */
export function refreshed(name: `modstead:${string}`, seconds: number): () => void {
  let last = Date.now();
  const refresh = () => {
    if (document.hidden || Date.now() - last < seconds * 1000 - 50) return;
    last = Date.now();
    void isReachable().then((isReached) => (isReached ? invalidate(name) : undefined));
  };
  const timer = setInterval(refresh, seconds * 1000);
  document.addEventListener('visibilitychange', refresh);
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', refresh);
  };
}

interface QueueState {
  readonly waiting: number;
  readonly claimed: number;
  readonly reports: number;
}

/** What a page shows of the queue. */
interface QueueShown extends Omit<QueueState, 'waiting'> {
  readonly waiting: readonly { readonly count: number }[];
}

const isSame = (state: QueueState, { waiting, claimed, reports }: QueueShown): boolean =>
  state.claimed === claimed &&
  state.reports === reports &&
  state.waiting === waiting.reduce((sum, { count }) => sum + count, 0);

/**
 * Loads the queue of a game again when the service tells of a change in it, while the page is visible. A hidden page gives
 * its connection back, because browsers have few for one site. Returns what ends it.
 */
export function queueFollowed(admin: string, shown: () => QueueShown): () => void {
  let stream: EventSource | undefined;
  const close = () => {
    stream?.close();
    stream = undefined;
  };
  const open = () => {
    let isFirst = true;
    stream = new EventSource(`${admin}/moderation/live`);
    stream.addEventListener('queue', ({ data }) => {
      // A connection begins with the state that the page was most likely drawn from.
      const isKnown = isFirst && isSame(JSON.parse(data) as QueueState, shown());
      isFirst = false;
      if (!isKnown) void invalidate('modstead:queue');
    });
  };
  const follow = () => (document.hidden ? close() : (stream ?? open()));
  follow();
  document.addEventListener('visibilitychange', follow);
  return () => {
    close();
    document.removeEventListener('visibilitychange', follow);
  };
}
