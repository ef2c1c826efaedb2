import assert from 'node:assert/strict';
import test from 'node:test';
import { Thread } from './thread.ts';

const PROGRAM = `
  import { parentPort } from 'node:worker_threads';
  parentPort.on('message', ({ id, request }) => {
    if (request.fails) throw new Error('an example');
    parentPort.postMessage({ id, found: request.says });
  });`;
const program = new URL(`data:text/javascript,${encodeURIComponent(PROGRAM)}`);

test('a thread that fails counts once, and its exit does not affect the next thread', async (t) => {
  const thread = new Thread<{ fails?: boolean; says?: string }>(program);
  t.after(() => thread.close());
  for (let lost = 1; lost <= 3; lost += 1) {
    // The next request is sent at the first sign of the failure: the thread has failed, but has not exited yet.
    const next = thread.ask({ fails: true }).catch(({ message }) => {
      assert.equal(message, 'an example');
      return thread.ask({ says: 'still here' });
    });
    assert.equal(await next, 'still here');
    assert.equal(thread.lost, lost);
  }
});

test('a closed thread does not count as lost, and its pending requests are rejected', async () => {
  const thread = new Thread<{ says?: string }>(program);
  assert.equal(await thread.ask({ says: 'hello' }), 'hello');
  const waiting = assert.rejects(thread.ask({ says: 'too late' }), /closed/);
  await thread.close();
  await waiting;
  assert.equal(thread.lost, 0);
});
