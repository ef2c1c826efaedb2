import assert from 'node:assert/strict';
import test from 'node:test';
import { Thread } from './thread.ts';

const PROGRAM = `
  import { parentPort } from 'node:worker_threads';
  parentPort.on('message', ({ id, question }) => {
    if (question.fails) throw new Error('an example');
    parentPort.postMessage({ id, found: question.says });
  });`;
const program = new URL(`data:text/javascript,${encodeURIComponent(PROGRAM)}`);

test('a thread that is lost counts once, and its end does not harm the one that follows', async (t) => {
  const thread = new Thread<{ fails?: boolean; says?: string }>(program);
  t.after(() => thread.close());
  for (let lost = 1; lost <= 3; lost += 1) {
    // The next question is asked at the first sign of the loss: the thread has failed, but has not ended yet.
    const next = thread.ask({ fails: true }).catch(({ message }) => {
      assert.equal(message, 'an example');
      return thread.ask({ says: 'still here' });
    });
    assert.equal(await next, 'still here');
    assert.equal(thread.lost, lost);
  }
});

test('a thread that was closed is not a lost one, and whoever waits for it is told', async () => {
  const thread = new Thread<{ says?: string }>(program);
  assert.equal(await thread.ask({ says: 'hello' }), 'hello');
  const waiting = assert.rejects(thread.ask({ says: 'too late' }), /closed/);
  await thread.close();
  await waiting;
  assert.equal(thread.lost, 0);
});
