import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, type Game, type Guide, type Mod, startApi } from '../../../test/api.ts';
import { getModEvents } from '../../catalogue/events/operations.ts';
import { deleteModOperation } from '../../catalogue/mods/operations.ts';
import { restrictUserInGame } from '../../catalogue/restrictions/operations.ts';
import { MODERATOR } from '../../catalogue/teams/teams.ts';
import { composeWorker } from '../../composition/compose.ts';
import { addCollectionOperation, deleteCollectionOperation } from '../collections/operations.ts';
import { getGuide } from '../guides/operations.ts';
import { mentionedIn } from './comments.ts';
import { collectionComments, guideComments, modComments } from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });

/** Comments on every kind of content behave alike, except for their error references. */
type Thing = Mod | Guide;
interface About {
  readonly game: Game;
  readonly community_options?: number;
}
const KINDS = [
  {
    singular: 'mod',
    operations: modComments,
    refs: { noDelete: 15027, tooDeep: 15041, byTeam: 15042, noNegative: 15095 },
    gameBit: 1,
    hasSwitch: true,
    thing: (about: About): Promise<Thing> => api.aMod(about),
  },
  {
    singular: 'guide',
    operations: guideComments,
    refs: { noDelete: 19027, tooDeep: 19041, byTeam: 19042, noNegative: 19045 },
    gameBit: 2_048,
    hasSwitch: true,
    thing: (about: About): Promise<Thing> => api.aGuide(about),
  },
  {
    singular: 'collection',
    operations: collectionComments,
    refs: { noDelete: 29610, tooDeep: 29612, byTeam: 29611, noNegative: 15095 },
    gameBit: 16_384,
    hasSwitch: false,
    thing: aCollection,
  },
];
const OPTIONS = 1 | 2 | 256 | 2_048 | 8_192 | 16_384;

async function aCollection({ game }: About): Promise<Thing> {
  const owner = await api.aUser();
  const body = { name: api.unique('Collection'), mod_ids: [(await api.aMod({ game })).id] };
  const made = await (await api.as(owner)).call(addCollectionOperation, { params: { game_id: game.id }, body });
  return { ...made.body, owner };
}

for (const { singular, operations, refs, gameBit, hasSwitch, thing: aThing } of KINDS) {
  const paramsOf = (thing: Thing, comment?: { id: number }) => ({
    game_id: thing.game_id,
    [`${singular}_id`]: thing.id,
    ...(comment && { comment_id: comment.id }),
  });
  const add = async (client: Client, thing: Thing, content: string, reply?: { id: number }) =>
    (await client.call(operations.add, { params: paramsOf(thing), body: { content, reply_id: reply?.id } })).body;
  const list = async (client: Client, thing: Thing, query = {}) =>
    (await client.call(operations.getAll, { params: paramsOf(thing), query })).body;
  const scene = async (about: { options?: number; own?: number } = {}) => {
    const game = await api.aGame({ settings: { community_options: about.options ?? OPTIONS } });
    const thing = await aThing({ game, ...(about.own !== undefined && { community_options: about.own }) });
    const [ada, grace] = [await api.aUser(), await api.aUser()];
    const clients = { asAda: await api.as(ada), asGrace: await api.as(grace), asOwner: await api.as(thing.owner) };
    return { game, thing, ada, grace, ...clients, key: api.withKey(game) };
  };

  test(`users comment on a ${singular} and reply, up to three levels deep`, async () => {
    const { thing, ada, asAda, asGrace, asOwner, key, game } = await scene();
    const first = await add(asAda, thing, 'How do I start?');
    const second = await add(asGrace, thing, 'Lovely');
    const reply = await add(asOwner, thing, 'With the key', first);
    const deepest = await add(asAda, thing, 'Which one?', reply);
    assert.deepEqual(
      [first, second, reply, deepest].map(({ thread_position, reply_id }) => [thread_position, reply_id]),
      [
        ['01', 0],
        ['02', 0],
        ['01.01', first.id],
        ['01.01.01', reply.id],
      ],
    );
    assert.deepEqual([first.user.id, first.game_id, first.resource_id], [ada.id, game.id, thing.id]);
    assert.deepEqual([first.karma, first.karma_guest, first.options, first.resource_ownership], [0, 0, 0, 0]);
    assert.equal(reply.resource_ownership, 1);
    assert.equal(first.mod_id, singular === 'mod' ? thing.id : 0);
    const body = { content: 'Deeper', reply_id: deepest.id };
    await asGrace.refused(operations.add, { params: paramsOf(thing), body }, 400, refs.tooDeep);
    const shown = await key.call(operations.getOne, { params: paramsOf(thing, deepest) });
    assert.deepEqual(shown.body, deepest);
    const inThreads = (await list(key, thing, { _sort: 'thread_position' })).data.map(({ id }) => id);
    assert.deepEqual(inThreads, [first.id, reply.id, deepest.id, second.id]);
    assert.deepEqual((await list(key, thing, { thread_position: '01.01' })).data, [reply]);
    assert.deepEqual((await list(key, thing, { reply_id: first.id })).data, [reply]);
    assert.deepEqual((await list(key, thing, { 'content-lk': '*LOVELY*' })).data, [second]);
    assert.equal((await list(key, thing, { submitted_by: ada.id })).result_total, 2);
    assert.equal((await list(key, thing, { resource_id: thing.id })).result_total, 4);
  });

  test(`a reply to a comment that is deleted or not on this ${singular} is refused as not found`, async () => {
    const { game, thing, asAda } = await scene();
    const elsewhere = await add(asAda, await aThing({ game }), 'Elsewhere');
    const gone = await add(asAda, thing, 'Gone');
    await asAda.call(operations.remove, { params: paramsOf(thing, gone) });
    for (const reply_id of [elsewhere.id, gone.id, 999_999])
      await asAda.refused(operations.add, { params: paramsOf(thing), body: { content: 'A', reply_id } }, 404, 15026);
    for (const comment of [elsewhere, gone]) {
      const params = paramsOf(thing, comment);
      await asAda.refused(operations.getOne, { params }, 404, 15026);
      await asAda.refused(operations.update, { params, body: { content: 'B' } }, 404, 15026);
      await asAda.refused(operations.remove, { params }, 404, 15026);
    }
  });

  test(`the author edits a comment on a ${singular}, nobody else does, and the next read shows it`, async () => {
    const { thing, asAda, asGrace, asOwner, key } = await scene();
    const comment = await add(asAda, thing, 'Frist');
    const params = paramsOf(thing, comment);
    assert.equal((await list(key, thing)).data[0]!.content, 'Frist');
    for (const client of [asGrace, asOwner])
      await client.refused(operations.update, { params, body: { content: 'Mine' } }, 403, 15055);
    assert.equal((await asAda.call(operations.update, { params, body: { content: 'First' } })).body.content, 'First');
    assert.equal((await list(key, thing)).data[0]!.content, 'First');
    await asAda.refused(operations.update, { params, body: { unheard_of: 1 } }, 422, 13009);
  });

  test(`author and team delete a comment on a ${singular} with all replies, and positions are not reused`, async () => {
    const { game, thing, asAda, asGrace, asOwner, key } = await scene();
    const first = await add(asAda, thing, 'One');
    const reply = await add(asGrace, thing, 'Two', first);
    await add(asAda, thing, 'Three', reply);
    const other = await add(asGrace, thing, 'Four');
    await asAda.refused(operations.remove, { params: paramsOf(thing, other) }, 403, refs.noDelete);
    assert.equal((await list(key, thing)).result_total, 4);
    assert.equal((await asAda.call(operations.remove, { params: paramsOf(thing, first) })).status, 204);
    assert.deepEqual((await list(key, thing)).data, [other]);
    assert.equal((await asOwner.call(operations.remove, { params: paramsOf(thing, other) })).status, 204);
    const next = await add(asAda, thing, 'Five');
    assert.equal(next.thread_position, '03');
    const moderator = await api.aUser();
    await api.joins(moderator, game, MODERATOR);
    await (await api.as(moderator)).call(operations.remove, { params: paramsOf(thing, next) });
    assert.equal((await list(key, thing)).result_total, 0);
    const { query } = api.app().db;
    const kept = await query.selectFrom('comments').select('content').where('resource_id', '=', thing.id).execute();
    assert.ok(kept.every(({ content }) => content === ''));
  });

  test(`the team pins and locks a comment on a ${singular}`, async () => {
    const { thing, asAda, asGrace, asOwner, key } = await scene();
    const [first, second] = [await add(asAda, thing, 'One'), await add(asAda, thing, 'Two')];
    const reply = await add(asGrace, thing, 'Below', second);
    const params = paramsOf(thing, second);
    await asAda.refused(operations.update, { params, body: { options: 1 } }, 403, 29500);
    assert.equal((await asOwner.call(operations.update, { params, body: { options: 3 } })).body.options, 3);
    const order = (await list(key, thing)).data.map(({ id }) => id);
    assert.deepEqual(order, [second.id, first.id, reply.id]);
    for (const { id } of [second, reply]) {
      const sent = { params: paramsOf(thing), body: { content: 'More', reply_id: id } };
      await asGrace.refused(operations.add, sent, 403, 14038);
    }
    assert.equal((await add(asOwner, thing, 'The last word', second)).thread_position, '02.02');
    const pinned = { params: paramsOf(thing, reply), body: { options: 1 } };
    await asOwner.refused(operations.update, pinned, 422, 13009);
    await asOwner.call(operations.update, { params, body: { options: 0 } });
    assert.equal((await add(asGrace, thing, 'Again', second)).thread_position, '02.03');
  });

  test(`every user votes once on a comment on a ${singular}, and can change the vote`, async () => {
    const { thing, asAda, asGrace, asOwner } = await scene();
    const comment = await add(asAda, thing, 'Vote for me');
    const params = paramsOf(thing, comment);
    const vote = async (client: Client, karma: number) =>
      (await client.call(operations.vote, { params, body: { karma } })).body.karma;
    assert.equal(await vote(asGrace, 1), 1);
    assert.equal(await vote(asOwner, 1), 2);
    await asGrace.refused(operations.vote, { params, body: { karma: 1 } }, 403, 15059);
    assert.equal(await vote(asGrace, -1), 0);
    assert.equal((await asOwner.call(operations.update, { params, body: { karma: -1 } })).body.karma, -2);
    await asOwner.refused(operations.update, { params, body: { karma: -1 } }, 403, 15059);
    // The Python client votes on the user’s own comment (41).
    assert.equal((await asAda.call(operations.vote, { params, body: { karma: 1 } })).body.karma, -1);
    await asAda.refused(operations.update, { params, body: { karma: 1 } }, 403, 15059);
    await asAda.call(operations.vote, { params, body: { karma: -1 } });
    await asGrace.refused(operations.vote, { params, body: { karma: 2 } }, 422, 13009);
    await asAda.call(operations.remove, { params });
    await asGrace.refused(operations.vote, { params, body: { karma: 1 } }, 400, 15090);
    await asGrace.refused(
      operations.vote,
      { params: { ...params, comment_id: 999_999 }, body: { karma: 1 } },
      404,
      15026,
    );
  });

  test(`where the game allows no negative votes, comments on a ${singular} cannot get any`, async () => {
    const { thing, asAda, asGrace } = await scene({ options: OPTIONS & ~256 });
    const params = paramsOf(thing, await add(asAda, thing, 'Vote for me'));
    await asGrace.refused(operations.vote, { params, body: { karma: -1 } }, 403, refs.noNegative);
    await asGrace.refused(operations.update, { params, body: { karma: -1 } }, 403, refs.noNegative);
    assert.equal((await asGrace.call(operations.vote, { params, body: { karma: 1 } })).body.karma, 1);
  });

  test(`where the game${hasSwitch ? ` or the ${singular}` : ''} has switched comments off, nobody adds one to a ${singular}, and existing ones stay readable`, async () => {
    for (const about of [{ options: OPTIONS & ~gameBit }, ...(hasSwitch ? [{ own: 0 }] : [])]) {
      const { thing, asAda, asOwner, key } = await scene(about);
      for (const client of [asAda, asOwner])
        await client.refused(operations.add, { params: paramsOf(thing), body: { content: 'Hello' } }, 403, 14038);
      assert.equal((await list(key, thing)).result_total, 0);
    }
  });

  test(`a user who is restricted from commenting adds and edits nothing on a ${singular}, and can delete their own`, async () => {
    const { game, thing, grace, asGrace, ada, asAda } = await scene();
    const [before, other] = [await add(asGrace, thing, 'Before'), await add(asAda, thing, 'Other')];
    const restrict = (client: Client, { id: user_id }: { id: number }) =>
      client.call(restrictUserInGame, { params: { game_id: game.id, user_id }, body: { options: 4 } });
    await restrict(await api.as(game.owner), grace);
    await restrict(await api.as(await api.aUser({ admin: true })), ada);
    const sent = { params: paramsOf(thing), body: { content: 'After' } };
    await asGrace.refused(operations.add, sent, 403, refs.byTeam);
    await asAda.refused(operations.add, sent, 403, 40004);
    for (const [client, comment] of [
      [asGrace, before],
      [asAda, other],
    ] as const) {
      const params = paramsOf(thing, comment);
      await client.refused(operations.update, { params, body: { content: 'After' } }, 403, 40004);
      assert.equal((await client.call(operations.remove, { params })).status, 204);
    }
    assert.equal((await add(asGrace, await aThing({ game: await api.aGame() }), 'Elsewhere')).thread_position, '01');
  });

  test(`comments on a ${singular} that look like spam are refused, except those of its team`, async () => {
    const { game, thing, asAda, asGrace, asOwner } = await scene();
    const links = Array.from({ length: 6 }, (_, i) => `https://example.com/${i}`).join(' ');
    const refused = (client: Client, content: string, on = thing) =>
      client.refused(operations.add, { params: paramsOf(on), body: { content } }, 403, 17011);
    await refused(asAda, links);
    await add(asOwner, thing, links);
    const comment = await add(asAda, thing, links.replace('https://example.com/5', ''));
    await asAda.refused(operations.update, { params: paramsOf(thing, comment), body: { content: links } }, 403, 17011);

    await add(asAda, thing, 'Buy my hat');
    await refused(asAda, '  buy MY\nhat ');
    await add(asAda, await aThing({ game }), 'Buy my hat');
    await add(asAda, await aThing({ game }), 'Buy my hat');
    await refused(asAda, 'Buy my hat', await aThing({ game }));
    api.clock.advance(3_600);
    await add(asAda, thing, 'Buy my hat');

    for (let i = 0; i < 10; i += 1) await add(asGrace, thing, `Number ${i}`);
    await refused(asGrace, 'Number ten');
    api.clock.advance(60);
    await add(asGrace, thing, 'Number ten');
  });

  test(`a user who floods a ${singular} with concurrent requests adds ten comments`, async () => {
    const { thing, asAda } = await scene();
    const sent = Array.from({ length: 16 }, (_, i) =>
      asAda.call(operations.add, { params: paramsOf(thing), body: { content: `Flood ${i}` } }),
    );
    const statuses = (await Promise.all(sent)).map(({ status }) => status).sort();
    assert.deepEqual(statuses, [...Array(10).fill(201), ...Array(6).fill(403)]);
  });

  test(`a comment on a ${singular} stores whom it mentions`, async () => {
    const { thing, ada, grace, asAda } = await scene();
    const comment = await add(
      asAda,
      thing,
      `Thanks @${grace.name_id}, not @nobody-at-all, me@${grace.name_id} or @${ada.name_id}`,
    );
    assert.deepEqual(await mentionedIn(api.app().db, comment.id), [grace.id]);
    const params = paramsOf(thing, comment);
    await asAda.call(operations.update, { params, body: { content: `Thanks @${thing.owner.name_id}!` } });
    assert.deepEqual(await mentionedIn(api.app().db, comment.id), [thing.owner.id]);
    await asAda.call(operations.remove, { params });
    assert.deepEqual(await mentionedIn(api.app().db, comment.id), []);
  });

  test(`a comment on a ${singular} needs visible text, within the limit`, async () => {
    const { thing, asAda } = await scene();
    for (const content of ['', '   ', '<p> </p>', '<script>alert(1)</script>', 'x'.repeat(5_001)])
      await asAda.refused(operations.add, { params: paramsOf(thing), body: { content } }, 422, 13009);
    assert.equal((await add(asAda, thing, 'x'.repeat(5_000))).content.length, 5_000);
  });

  test(`after 16 concurrent writers the counters of comments on a ${singular} equal a recount`, async () => {
    const { thing, key } = await scene();
    const people = await Promise.all(Array.from({ length: 16 }, async () => api.as(await api.aUser())));
    const first = await add(await api.as(thing.owner), thing, 'Here we go');
    const known = [first.id];
    await Promise.all(
      people.map(async (client, writer) => {
        for (let step = 0; step < 8; step += 1) {
          const comment_id = known[Math.floor(Math.random() * known.length)]!;
          const params = { ...paramsOf(thing), comment_id };
          const chance = Math.random();
          if (chance < 0.4) {
            const reply_id = Math.random() < 0.5 ? 0 : comment_id;
            const body = { content: `Writer ${writer}, step ${step}`, reply_id };
            const { status, body: added } = await client.call(operations.add, { params: paramsOf(thing), body });
            assert.ok([201, 400, 403, 404].includes(status), String(status));
            if (status === 201) known.push(added.id);
          } else if (chance < 0.9) {
            const { status } = await client.call(operations.vote, {
              params,
              body: { karma: Math.random() < 0.7 ? 1 : -1 },
            });
            assert.ok([200, 400, 403].includes(status), String(status));
          } else {
            const { status } = await client.call(operations.remove, { params });
            assert.ok([204, 403, 404].includes(status), String(status));
          }
        }
      }),
    );
    const { query } = api.app().db;
    const comments = await query
      .selectFrom('comments')
      .selectAll()
      .where('resource', '=', `${singular}s`)
      .where('resource_id', '=', thing.id)
      .execute();
    const there = comments.filter(({ date_deleted }) => date_deleted === 0);
    for (const { id, karma, thread_position } of there) {
      const votes = await query.selectFrom('comment_votes').select('karma').where('comment_id', '=', id).execute();
      assert.equal(
        karma,
        votes.reduce((sum, vote) => sum + vote.karma, 0),
      );
      const above = thread_position.split('.').slice(0, -1).join('.');
      assert.ok(above === '' || there.some((comment) => comment.thread_position === above), thread_position);
    }
    assert.equal(new Set(comments.map(({ thread_position }) => thread_position)).size, comments.length);
    assert.equal((await list(key, thing)).result_total, there.length);
    if (singular === 'guide') {
      const { body } = await key.call(getGuide, { params: paramsOf(thing) });
      assert.equal(body.stats[0]!.comments_total, there.length);
    }
  });
}

test('the events of a mod contain added and deleted comments', async () => {
  const mod = await api.aMod();
  const params = { game_id: mod.game_id, mod_id: mod.id };
  const client = await api.as(mod.owner);
  const { body } = await client.call(modComments.add, { params, body: { content: 'Hello' } });
  await client.call(modComments.remove, { params: { ...params, comment_id: body.id } });
  const { data } = (await client.call(getModEvents, { params })).body;
  assert.deepEqual(
    data.slice(0, 2).map(({ event_type }) => event_type),
    ['MOD_COMMENT_DELETED', 'MOD_COMMENT_ADDED'],
  );
});

test('comments on hidden content are neither shown to strangers nor accepted from them', async () => {
  const game = await api.aGame();
  const [owner, stranger] = [await api.aUser(), await api.as(await api.aUser())];
  const asOwner = await api.as(owner);
  const later = api.clock.now() + 3_600;
  const hidden = [await api.aGuide({ game, owner, status: 0 }), await api.aGuide({ game, owner, date_live: later })];
  for (const { id } of hidden) {
    const params = { game_id: game.id, guide_id: id };
    const { body } = await asOwner.call(guideComments.add, { params, body: { content: 'Between us' } });
    // The author’s response is not cached, because authors of guides are in no team.
    assert.equal((await asOwner.call(guideComments.getAll, { params })).body.result_total, 1);
    const one = { ...params, comment_id: body.id };
    await asOwner.call(guideComments.getOne, { params: one });
    for (const client of [stranger, api.withKey(game)]) {
      await client.refused(guideComments.getAll, { params }, 404, 14000);
      await client.refused(guideComments.getOne, { params: one }, 404, 14000);
    }
    await stranger.refused(guideComments.add, { params, body: { content: 'Me too' } }, 404, 14000);
    await stranger.refused(guideComments.vote, { params: one, body: { karma: 1 } }, 404, 14000);
  }
  const mod = await api.aMod({ game, owner, visible: 0 });
  const params = { game_id: game.id, mod_id: mod.id };
  await asOwner.call(modComments.add, { params, body: { content: 'Between us' } });
  assert.equal((await asOwner.call(modComments.getAll, { params })).body.result_total, 1);
  await stranger.refused(modComments.getAll, { params }, 404, 15022);
  await api.withKey(game).refused(modComments.getAll, { params }, 404, 15022);
});

test('permanently deleting a mod deletes its comments', async () => {
  const mod = await api.aMod();
  const params = { game_id: mod.game_id, mod_id: mod.id };
  const [client, other] = [await api.as(mod.owner), await api.as(await api.aUser())];
  const { body } = await client.call(modComments.add, { params, body: { content: 'Hello' } });
  await other.call(modComments.vote, { params: { ...params, comment_id: body.id }, body: { karma: 1 } });
  await client.call(deleteModOperation, { params });
  await client.refused(modComments.getAll, { params }, 403, 15023);
  await client.call(deleteModOperation, { params, body: { permanent: true } });
  await composeWorker(api.app()).runDue();
  const { query } = api.app().db;
  assert.deepEqual(await query.selectFrom('comments').selectAll().where('id', '=', body.id).execute(), []);
  assert.deepEqual(await query.selectFrom('comment_votes').selectAll().where('comment_id', '=', body.id).execute(), []);
});

test('permanently deleting a collection deletes its comments, and hiding it hides them', async () => {
  const game = await api.aGame();
  const { id, owner } = await aCollection({ game });
  const params = { game_id: game.id, collection_id: id };
  const [client, other] = [await api.as(owner), await api.as(await api.aUser())];
  const { body } = await other.call(collectionComments.add, { params, body: { content: 'Hello' } });
  assert.equal((await other.call(collectionComments.getAll, { params })).body.result_total, 1);
  await client.call(deleteCollectionOperation, { params });
  await other.refused(collectionComments.getAll, { params }, 404, 14000);
  await other.refused(collectionComments.add, { params, body: { content: 'Still there?' } }, 404, 14000);
  await client.call(deleteCollectionOperation, { params, body: { permanent: true } });
  await composeWorker(api.app()).runDue();
  const { query } = api.app().db;
  assert.deepEqual(await query.selectFrom('comments').selectAll().where('id', '=', body.id).execute(), []);
});

const TAGS = 'script img svg iframe object embed math style link meta base form input video audio body details a div x';
const HANDLERS = 'onerror onload onclick onmouseover onfocus ontoggle onbegin onpointerenter onanimationstart';
const SHAPES = [
  (tag: string, on: string) => `<${tag} ${on}=alert(1)>x</${tag}>`,
  (tag: string, on: string) => `<${tag}/${on}='alert(1)'/src=x href=javascript:alert(1)>y`,
  (tag: string, on: string) => `<${tag.toUpperCase()} x=">" ${on}="alert(1)" src="data:text/html,a">z`,
  (tag: string, on: string) => `"><${tag}\n${on}\n=\nalert(1) href="&#106;avascript:alert(1)">w`,
  (tag: string, on: string) => `<a href="java\tscript:alert(1)"><${tag} ${on}=alert\`1\`//`,
  (tag: string, on: string) => `<<${tag}><${tag} style="x:expression(alert(1))" ${on}=alert(1)`,
];
const ALLOWED =
  /^<\/?(?:b|strong|i|em|u|s|strike|small|sub|sup|p|br|hr|h[1-6]|ul|ol|li|blockquote|pre|code|span|div|table|thead|tbody|tr|th|td|a|img)(?: (?:(?:href|src)="(?:https?:\/\/|mailto:)[^"<>]*"|(?:alt|title|width|height|rel)="[^"<>]*"))*>$/;

test('the tenth and the hundredth comment are sorted in order', async () => {
  const mod = await api.aMod();
  const client = await api.as(mod.owner);
  const params = { game_id: mod.game_id, mod_id: mod.id };
  for (let i = 1; i <= 101; i += 1) await client.call(modComments.add, { params, body: { content: `Note ${i}` } });
  const { body } = await client.call(modComments.getAll, { params, query: { _sort: '-thread_position', _limit: 3 } });
  assert.deepEqual(
    body.data.map(({ thread_position }) => thread_position),
    ['101', '100', '99'],
  );
});

/** A few, so that an unclosed one hides few others. */
const PAYLOADS_AT_ONCE = 24;

test('script in a comment does not run where it is shown, and the text is stored unchanged', async () => {
  const mod = await api.aMod();
  const client = await api.as(mod.owner);
  const params = { game_id: mod.game_id, mod_id: mod.id };
  const payloads = TAGS.split(' ').flatMap((tag) =>
    HANDLERS.split(' ').flatMap((on) => SHAPES.map((shape) => shape(tag, on))),
  );
  assert.ok(payloads.length >= 1_000);
  for (let at = 0; at < payloads.length; at += PAYLOADS_AT_ONCE) {
    const content = `Shown ${payloads.slice(at, at + PAYLOADS_AT_ONCE).join('\n')}`;
    const { body, status } = await client.call(modComments.add, { params, body: { content } });
    assert.equal(status, 201);
    for (const [tag] of body.content.matchAll(/<[^>]*>?/g)) assert.match(tag, ALLOWED);
    const { query } = api.app().db;
    const row = await query
      .selectFrom('comments')
      .select('content')
      .where('id', '=', body.id)
      .executeTakeFirstOrThrow();
    assert.equal(row.content, content.trim());
  }
});
