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
