import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { follow, gameEvents, isApiError, notificationNews } from '../../client/src/index.ts';
import { serverSentEvents } from '../../client/src/streams/server-sent-events.ts';
import { startApi } from '../api.ts';
import { clientOf, fetchOf } from './fetching.ts';

const api = await startApi();
const mod = await api.aMod();
const owner = clientOf(api, { token: (await api.as(mod.owner)).token });
const path = { game_id: mod.game_id, mod_id: mod.id };

test('the events of a game continue after a lost connection with the last one that was received', async () => {
  const send = fetchOf(api);
  const opened: (string | null)[] = [];
  const game = await api.aGame();
  const edited = await api.aMod({ game });
  const author = clientOf(api, { token: (await api.as(edited.owner)).token });
  const edit = (summary: string) =>
    author.call('PUT /games/{game_id}/mods/{mod_id}', { game_id: game.id, mod_id: edited.id, summary });
  /** The first connection ends after an event, in the middle of the next one. */
  const breaking: typeof fetch = async (input, init) => {
    opened.push(new Headers(init?.headers).get('last-event-id'));
    const response = await send(input, init);
    if (opened.length > 1) return response;
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        controller.enqueue(chunk);
        if (!new TextDecoder().decode(chunk).includes('data:')) return;
        controller.enqueue(new TextEncoder().encode('id: 999999\nevent: MOD_ED'));
        controller.error(new TypeError('terminated'));
      },
    });
    return new Response(response.body!.pipeThrough(cut), { status: response.status });
  };
  const waits: number[] = [];
  const team = clientOf(api, {
    token: (await api.as(game.owner)).token,
    fetch: breaking,
    retry: { wait: async (milliseconds) => void waits.push(milliseconds) },
  });
  const leave = new AbortController();
  const events = gameEvents(team, game.id, { lastEventId: 0, signal: leave.signal });
  const next = async () => (await events.next()).value!;
  const first = await next();
  assert.deepEqual([first.game_id, typeof first.event_type], [game.id, 'string']);
  const others = [await next()];
  await edit('One');
  while (others.at(-1)!.event_type !== 'MOD_EDITED') others.push(await next());
  assert.ok(others.every(({ id }, index) => id > (others[index - 1] ?? first).id));
  assert.deepEqual([opened[0], opened.length, waits], ['0', 2, [3_000]]);
  leave.abort(new Error('left'));
  await assert.rejects(events.next(), /left/);
  const stranger = gameEvents(owner, game.id);
  await assert.rejects(stranger.next(), (error) => isApiError(error, 29_500));
});

test('notifications are followed from now on or after an id, each of them once', async () => {
  const send = fetchOf(api);
  const leave = new AbortController();
  let polls = 0;
  const fan = clientOf(api, { token: (await api.as(await api.aUser())).token });
  const comment = () => fan.call('POST /games/{game_id}/mods/{mod_id}/comments', { ...path, content: `Fine ${polls}` });
  await comment();
  const reader = clientOf(api, {
    token: (await api.as(mod.owner)).token,
    fetch: async (input, init) => {
      if (polls === 2) throw new TypeError('fetch failed');
      return send(input, init);
    },
    retry: {
      times: 0,
      wait: async () => {
        polls += 1;
        if (polls === 4) leave.abort(new Error('left'));
        leave.signal.throwIfAborted();
        await comment();
      },
    },
  });
  const ids: number[] = [];
  const following = async () => {
    for await (const { id, kind } of follow(reader, 'GET /me/notifications', {}, { signal: leave.signal })) {
      assert.equal(kind, 'comment');
      ids.push(id);
    }
  };
  await assert.rejects(following(), /left/);
  const { data } = await owner.call('GET /me/notifications', { _sort: 'id' });
  const [old, ...others] = data.map(({ id }) => id);
  assert.deepEqual(ids, others);
  const again = follow(owner, 'GET /me/notifications', {}, { after: others[0]! });
  assert.deepEqual([(await again.next()).value?.id, old! < others[0]!], [others[1], true]);
  await again.return();
});

test('notifications come as a stream, with which of them are unread', async () => {
  const user = await api.aUser();
  const reader = clientOf(api, { token: (await api.as(user)).token });
  const leave = new AbortController();
  const news = notificationNews(reader, { signal: leave.signal });
  const next = async () => (await news.next()).value!;
  assert.deepEqual((await next()).unread, { count: 0, ids: [] });
  const fan = await api.aUser();
  const follower = clientOf(api, { token: (await api.as(fan)).token });
  await follower.call('POST /users/{user_id}/following', {
    user_id: fan.id,
    body: { user_id: user.id },
  });
  const { notification } = await next();
  assert.deepEqual([notification?.kind, notification?.user?.id], ['follower', fan.id]);
  assert.deepEqual((await next()).unread, { count: 1, ids: [notification!.id] });
  await reader.call('POST /me/notifications');
  assert.equal((await next()).unread?.count, 0);
  leave.abort(new Error('left'));
  await assert.rejects(news.next(), /left/);
});

test('events are read from chunks of any length', async () => {
  const text =
    ': a comment\r\nid: 7\nevent: A\ndata: one\ndata:two\n\nretry: 50\n\ndata: ü\r\rid: 8\ndata\n\ndata: cut';
  const bytes = new TextEncoder().encode(text);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), async (lengths) => {
      const reading = { lastId: '', retryMs: 0 };
      let at = 0;
      let turn = 0;
      const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
        pull: (controller) => {
          if (at >= bytes.length) return controller.close();
          const length = lengths[turn++ % lengths.length]!;
          controller.enqueue(bytes.slice(at, at + length));
          at += length;
        },
      });
      assert.deepEqual(await Array.fromAsync(serverSentEvents(body, reading)), [
        { id: '7', event: 'A', data: 'one\ntwo' },
        { id: '7', event: 'message', data: 'ü' },
        { id: '8', event: 'message', data: '' },
      ]);
      assert.deepEqual(reading, { lastId: '8', retryMs: 50 });
    }),
    { numRuns: 20 },
  );
});
