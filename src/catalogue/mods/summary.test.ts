import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { type Answer, assertRefused, type ErrorAnswer, type Mod, startApi } from '../../../test/api.ts';
import { editGameOperation } from '../games/operations.ts';
import { editModByPut, editModOperation, getMod } from './operations.ts';

const api = await startApi();
const usual = await api.aGame();
const roomy = await api.aGame({ settings: { summary_length_max: 500 } });
const LOGO = await sharp({ create: { width: 512, height: 288, channels: 3, background: '#345' } })
  .png()
  .toBuffer();

const at = (mod: Mod) => ({ game_id: mod.game_id, mod_id: mod.id });
const long = (characters: number) => 'é'.repeat(characters);

async function add(game: { id: number }, fields: Record<string, string>): Promise<Answer> {
  const { token } = await api.as(await api.aUser());
  const parts = Object.entries(fields).map(
    ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const head = '--b\r\nContent-Disposition: form-data; name="logo"; filename="a.png"\r\n\r\n';
  return api.request('POST', `/v1/games/${game.id}/mods`, {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'multipart/form-data; boundary=b' },
    body: Buffer.concat([Buffer.from(parts.join('') + head), LOGO, Buffer.from('\r\n--b--\r\n')]),
  });
}

function assertNames(answer: Answer<unknown>, errors: Record<string, RegExp>): void {
  assertRefused(answer as Answer, 422, 13009);
  const named = (answer.body as ErrorAnswer).error.errors!;
  assert.deepEqual(Object.keys(named).sort(), Object.keys(errors).sort());
  for (const [field, says] of Object.entries(errors)) assert.match(String(named[field]), says);
}

for (const [game, max] of [
  [usual, 200],
  [roomy, 500],
] as const) {
  const says = new RegExp(`\\b${max}\\b`);

  test(`a new mod has at most ${max} characters of summary where its game sets that limit`, async () => {
    const added = await add(game, { name: 'Airship', summary: ` ${long(max)} ` });
    assert.equal(added.status, 201, added.text);
    assert.equal((added.body as unknown as { summary: string }).summary, long(max));
    assertNames(await add(game, { name: 'Airship', summary: long(max + 1) }), { summary: says });
    assertNames(await add(game, { name: '', summary: long(max + 1), visible: '7' }), {
      name: /./,
      summary: says,
      visible: /./,
    });
    assertNames(await add(game, { name: 'x'.repeat(51), summary: long(max) }), { name: /\b50\b/ });
    const json = (summary: string) => ({ input_json: JSON.stringify({ name: 'Airship', summary }) });
    assert.equal((await add(game, json(long(max)))).status, 201);
    assertNames(await add(game, json(long(max + 1))), { summary: says });
  });

  test(`an edited mod has at most ${max} there, by either method, in each language and as input_json`, async () => {
    const mod = await api.aMod({ game });
    const owner = await api.as(mod.owner);
    const params = at(mod);
    for (const operation of [editModByPut, editModOperation])
      for (const headers of [{ 'content-language': 'en' }, { 'content-language': 'de' }])
        for (const sent of [
          (summary: string) => ({ summary }),
          (summary: string) => ({ input_json: JSON.stringify({ summary }) }),
        ]) {
          const taken = await owner.call(operation, { params, body: sent(long(max)), headers });
          assert.equal(taken.status, 200, taken.text);
          assertNames(await owner.call(operation, { params, body: sent(long(max + 1)), headers }), { summary: says });
        }
    for (const language of ['en', 'de']) {
      const { body } = await owner.call(getMod, { params, headers: { 'accept-language': language } });
      assert.equal(body.summary, long(max));
    }
  });
}

test('neither the game’s team nor an operator can set the limit over the API', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  for (const user of [game.owner, await api.aUser({ admin: true })]) {
    const body = { summary_length_max: 2_000, ugc_name: 'ships' };
    await (await api.as(user)).call(editGameOperation, { params: { game_id: game.id }, body });
    const owner = await api.as(mod.owner);
    assertNames(await owner.call(editModByPut, { params: at(mod), body: { summary: long(201) } }), {
      summary: /\b200\b/,
    });
  }
});

test('the limit does not reveal a game that the caller may not see', async () => {
  const hidden = await api.aGame({ accepted: false, settings: { summary_length_max: 500 } });
  for (const game of [hidden, { id: 999_999 }]) {
    assertNames(await add(game, { name: 'Airship', summary: long(201) }), { summary: /\b200\b/ });
    assertRefused(await add(game, { name: 'Airship', summary: long(200) }), 404, 14001);
  }
});
