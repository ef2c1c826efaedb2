import { test } from 'node:test';
import { startApi } from './api.ts';
import { Barrier } from './barriers.ts';
import { addersOf, ENDERS, FOR_RACES, PLACES_FOR_ALL } from './races.ts';
import { aCast, aScene } from './racing.ts';
import { raced } from './racing-together.ts';

const api = await startApi(FOR_RACES);
const { db } = api.app();
Object.assign(db, PLACES_FOR_ALL);
const cast = await aCast(api);
const barrier = new Barrier(db);

for (const [name, ender] of Object.entries(ENDERS)) {
  if (!ender.before) continue;
  test(`${name} waits for uncommitted additions to the resource that it ends`, async () => {
    const scene = await aScene(api, cast);
    await ender.before!(scene, db);
    await raced(
      barrier,
      addersOf(name, scene).map((operation) => [operation, [name]] as const),
      scene,
    );
  });
}
