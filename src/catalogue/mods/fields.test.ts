import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { type Answer, assertRefused, type Client, type Mod, startApi } from '../../../test/api.ts';
import { MANAGER, MODERATOR } from '../teams/teams.ts';
import { editModByPut, editModOperation, getMod } from './operations.ts';

const api = await startApi();
const game = await api.aGame({ settings: { maturity_options: 1, monetization_options: 1 } });
const LOGO = await sharp({ create: { width: 512, height: 288, channels: 3, background: '#345' } })
  .png()
  .toBuffer();

function add(client: Client, fields: Record<string, string>): Promise<Answer> {
  const sent = Object.entries({ name: 'Airship', summary: 'Flies', ...fields });
  const parts = sent.map(
    ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const head = '--b\r\nContent-Disposition: form-data; name="logo"; filename="a.png"\r\n\r\n';
  return api.request('POST', `/v1/games/${game.id}/mods`, {
    headers: { authorization: `Bearer ${client.token}`, 'content-type': 'multipart/form-data; boundary=b' },
    body: Buffer.concat([Buffer.from(parts.join('') + head), LOGO, Buffer.from('\r\n--b--\r\n')]),
  });
}

const at = (mod: Mod) => ({ game_id: mod.game_id, mod_id: mod.id });

/** The error that each role gets when it changes a field of each kind. */
const ROLES: Record<string, { field: number | undefined; maturity: number | undefined; status: number | undefined }> = {
  'a stranger': { field: 15013, maturity: 15014, status: 15015 },
  'a moderator of the mod': { field: 15013, maturity: 15014, status: 15015 },
  'a manager of the mod': { field: undefined, maturity: undefined, status: 15015 },
  'its owner': { field: undefined, maturity: undefined, status: 15015 },
  'a moderator of the game': { field: 15013, maturity: undefined, status: undefined },
  'a manager of the game': { field: undefined, maturity: undefined, status: undefined },
  'a member of the site staff': { field: undefined, maturity: undefined, status: undefined },
};

async function inRole(role: string, mod: Mod): Promise<Client> {
  if (role === 'its owner') return api.as(mod.owner);
  const user = await api.aUser({ admin: role === 'a member of the site staff' });
  const level = role.includes('moderator') ? MODERATOR : MANAGER;
  if (role.endsWith('of the mod')) await api.joinsMod(user, mod, level);
  if (role.endsWith('of the game')) await api.joins(user, game, level);
  return api.as(user);
}

const FIELDS: Record<string, string | number> = {
  name: 'Zeppelin',
  summary: 'Floats',
  description: '<p>Up</p>',
  homepage_url: 'https://example.org/',
  visible: 0,
  community_options: 1,
  credit_options: 3,
  stock: 1,
  metadata_blob: 'blob',
};

for (const [role, refs] of Object.entries(ROLES))
  test(`${role} changes exactly the fields of a mod that the role allows`, async () => {
    const mod = await api.aMod({ game });
    const client = await inRole(role, mod);
    const params = at(mod);
    const attempt = async (body: Record<string, string | number>, ref: number | undefined) => {
      if (ref !== undefined) return void (await client.refused(editModByPut, { params, body }, 403, ref));
      const answer = await client.call(editModByPut, { params, body });
      assert.equal(answer.status, 200, answer.text);
    };
    const fields = { ...FIELDS, name_id: role.replaceAll(' ', '-') };
    for (const [name, value] of Object.entries(fields)) await attempt({ [name]: value }, refs.field);
    await attempt({ maturity_option: 4 }, refs.maturity);
    await attempt({ status: 0 }, refs.status);
    if (refs.field !== undefined) await attempt({ summary: 'x', status: 0, maturity_option: 1 }, refs.field);
  });

test('a price needs the switch of the mod, and a mod that is not for sale can be sent back', async () => {
  const mod = await api.aMod({ game });
  const owner = await api.as(mod.owner);
  for (const operation of [editModByPut, editModOperation])
    for (const [offer, status, ref] of [
      [{ price: 5 }, 403, 900014],
      [{ monetization_options: 8 }, 403, 900014],
      [{ monetization_options: 1 | 2 }, 422, 900020],
      [{ monetization_options: 1 | 8, stock: 1 }, 400, 15049],
      [{ tokenpack_id: 3 }, 422, 900011],
    ] as const)
      await owner.refused(operation, { params: at(mod), body: { summary: 'New', ...offer } }, status, ref);
  const sentBack = { summary: 'New', price: 0, monetization_options: 0, tokenpack_id: 0 };
  const { body } = await owner.call(editModByPut, { params: at(mod), body: sentBack });
  assert.deepEqual([body.summary, body.price, body.monetization_options], ['New', 0, 0]);
  const stranger = await api.as(await api.aUser());
  await stranger.refused(editModByPut, { params: at(mod), body: { price: 5 } }, 403, 15013);
  assertRefused(await add(stranger, { tokenpack_id: '3' }), 422, 900011);
  assert.equal((await add(stranger, { tokenpack_id: '0' })).status, 201);
});

test('read-only fields are ignored in a form and in input_json', async () => {
  const mod = await api.aMod({ game });
  const owner = await api.as(mod.owner);
  const before = (await owner.call(getMod, { params: at(mod) })).body;
  const sent = { id: 1, game_id: 1, submitted_by: 1, date_added: 1, date_live: 1, tax: 9, summary: 'Taken' };
  await owner.call(editModByPut, { params: at(mod), body: sent });
  await owner.call(editModByPut, { params: at(mod), body: { input_json: JSON.stringify(sent) } });
  const { date_updated: _, ...after } = (await owner.call(getMod, { params: at(mod) })).body;
  const { date_updated: __, ...expected } = before;
  assert.deepEqual(after, { ...expected, summary: 'Taken' });
});

test('a price in input_json is refused as well', async () => {
  const mod = await api.aMod({ game });
  const body = { price: 0, input_json: '{"price":5}' };
  await (await api.as(mod.owner)).refused(editModByPut, { params: at(mod), body }, 403, 900014);
});
