import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from './api.ts';
import { Barrier } from './barriers.ts';
import { raced } from './race-runs.ts';
import { aCast, aScene, operationOf } from './race-scene.ts';
import { SITUATIONS } from './race-situations.ts';
import { ENDERS, RACE_SETTINGS, races, UNLIMITED_READS } from './races.ts';

const api = await startApi(RACE_SETTINGS);
for (const app of api.apps()) Object.assign(app.db, UNLIMITED_READS);
const cast = await aCast(api);
const barrier = new Barrier(...api.apps());
// Situations have games and mods of their own, whose teams the scene does not know.
const enders = Object.keys(ENDERS).filter((name) => !ENDERS[name]!.before && !name.includes('team-member'));

for (const [name, { operations, prepare, without = [] }] of Object.entries(SITUATIONS))
  test(`${name}: operations that end a resource wait for uncommitted additions to it`, async () => {
    const scene = await prepare(api, await aScene(api, cast));
    const pairs = operations.map(
      (id) =>
        [
          operationOf(id),
          enders.filter((ender) => !without.includes(ender) && races(ender, operationOf(id), scene)),
        ] as const,
    );
    for (const [operation, names] of pairs) assert.ok(names.length > 0, `${operation.declaration.id} races nothing`);
    const single = pairs.flatMap(([operation, names]) => names.map((each) => [operation, [each]] as const));
    await raced(barrier, single, scene);
  });
