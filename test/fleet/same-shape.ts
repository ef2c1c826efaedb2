import { Agent } from 'node:http';
import { ask, type Door } from './doors.ts';

const PAGES = ['/v1/games', '/v1/games/{game}', '/v1/games/{game}/mods', '/v1/games/{game}/mods/{mod}'];
const LISTS = ['files', 'comments', 'tags', 'team', 'events', 'dependencies', 'metadatakvp', 'stats'];

/** Fields that the old program answers with, and the new one lacks or has with another type. */
export async function lostFields(before: Door, after: Door, token: string, mod: string): Promise<string[]> {
  const agent = new Agent();
  const [, game, id] = /games\/(\d+)\/mods\/(\d+)/.exec(mod)!;
  const paths = [
    ...PAGES,
    ...LISTS.map((each) => `/v1/games/{game}/mods/{mod}/${each}`),
    '/v1/me',
    '/v1/me/subscribed',
  ];
  const lost: string[] = [];
  for (const each of paths) {
    const path = `${each.replace('{game}', game!).replace('{mod}', id!)}?_sort=id&_limit=5`;
    const [old, now] = await Promise.all(
      [before, after].map((door) => ask(door, agent, { method: 'GET', path, token })),
    );
    if (old?.status !== 200 || now?.status !== 200) lost.push(`${path}: ${old?.status} and ${now?.status}`);
    else lost.push(...missingIn(JSON.parse(old.body), JSON.parse(now.body), path));
  }
  agent.destroy();
  return lost;
}

/** Players come and go between the two answers, so one list may be empty. */
const isComparable = (old: readonly unknown[], now: readonly unknown[]) => old.length > 0 && now.length > 0;

function missingIn(old: unknown, now: unknown, path: string): string[] {
  if (old === null || old === undefined) return [];
  if (Array.isArray(old) !== Array.isArray(now) || typeof old !== typeof now)
    return [`${path} was ${JSON.stringify(old).slice(0, 40)} and is ${JSON.stringify(now)?.slice(0, 40)}`];
  if (Array.isArray(old))
    return isComparable(old, now as unknown[]) ? missingIn(old[0], (now as unknown[])[0], `${path} [0]`) : [];
  if (typeof old !== 'object') return [];
  const fields = now as Record<string, unknown>;
  return Object.entries(old).flatMap(([name, value]) => missingIn(value, fields[name], `${path} ${name}`));
}
