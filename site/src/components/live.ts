import { invalidate } from '$app/navigation';

/**
 * Loads what depends on this name again, every so many seconds while the page is visible, and at once when it becomes
 * visible after longer. Returns what ends it.
 */
export function refreshed(name: `modstead:${string}`, seconds: number): () => void {
  let last = Date.now();
  const refresh = () => {
    if (document.hidden || Date.now() - last < seconds * 1000 - 50) return;
    last = Date.now();
    void invalidate(name);
  };
  const timer = setInterval(refresh, seconds * 1000);
  document.addEventListener('visibilitychange', refresh);
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', refresh);
  };
}
