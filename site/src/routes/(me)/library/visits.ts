import type { Cookies } from '@sveltejs/kit';

const COOKIE = 'library_visits';
const YEAR_SECONDS = 365 * 86_400;
/** A reload within this time belongs to the same visit. */
const VISIT_SECONDS = 30 * 60;
const SHAPE = /^(\d{1,12})\.(\d{1,12})$/;

/** When this browser visited the library before this visit, and remembers this one. */
export function lastVisit(cookies: Cookies): number | undefined {
  const now = Math.floor(Date.now() / 1000);
  const [, earlier, latest] = (SHAPE.exec(cookies.get(COOKIE) ?? '') ?? []).map(Number);
  const isSameVisit = latest !== undefined && now - latest < VISIT_SECONDS;
  const before = isSameVisit ? earlier! : (latest ?? 0);
  cookies.set(COOKIE, `${before}.${now}`, { path: '/library', maxAge: YEAR_SECONDS, sameSite: 'lax' });
  return before > 0 ? before : undefined;
}
