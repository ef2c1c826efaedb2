import { test } from 'node:test';
import { startApi } from './api.ts';
import { Barrier } from './barriers.ts';
import { raced } from './race-runs.ts';
import { aCast, aScene } from './race-scene.ts';
import { addersOf, ENDERS, RACE_SETTINGS, UNLIMITED_READS } from './races.ts';

const api = await startApi(RACE_SETTINGS);
const { db } = api.app();
for (const app of api.apps()) Object.assign(app.db, UNLIMITED_READS);
const cast = await aCast(api);
const barrier = new Barrier(...api.apps());

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
