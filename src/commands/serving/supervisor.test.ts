import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import test from 'node:test';
import { createLog } from '../../platform/runtime/log.ts';
import type { ToProcess } from './messages.ts';
import { StartFailed, Supervisor } from './supervisor.ts';

/** A process that records what it is sent, and ends when it is told to. */
class FakeProcess extends EventEmitter {
  readonly pid: number;
  readonly slot: number;
  readonly #history: string[];
  readonly #startsWell: boolean;
  connected = true;

  constructor(slot: number, pid: number, history: string[], startsWell: boolean) {
    super();
    this.slot = slot;
    this.pid = pid;
    this.#history = history;
    this.#startsWell = startsWell;
    history.push(`spawn ${slot}`);
  }

  send(message: ToProcess): boolean {
    this.#history.push(`${message.kind} ${this.slot}`);
    if (message.kind === 'start') {
      if (this.#startsWell) setImmediate(() => this.emit('message', { kind: 'started' }));
      else setImmediate(() => this.end(2));
    }
    if (message.kind === 'stop') setImmediate(() => this.end(0));
    return true;
  }

  kill(): boolean {
    setImmediate(() => this.end(null));
    return true;
  }

  end(code: number | null): void {
    if (!this.connected) return;
    this.connected = false;
    this.#history.push(`exit ${this.slot}`);
    this.emit('exit', code, code === null ? 'SIGKILL' : null);
  }
}

function supervise({ startsWell = (_pid: number): boolean => true } = {}) {
  const history: string[] = [];
  const waits: number[] = [];
  const processes: FakeProcess[] = [];
  const clock = { ms: 0 };
  const supervisor = new Supervisor<never>({
    count: 2,
    spawn: (slot) => {
      const pid = processes.length + 1;
      const process = new FakeProcess(slot, pid, history, startsWell(pid));
      processes.push(process);
      return process as unknown as ChildProcess;
    },
    order: { kind: 'start', count: 2, sockets: 1, overrides: { port: 1, payments: 'default' }, demo: undefined },
    drainMs: 1_000,
    log: createLog('off', () => {}),
    sumOfMetrics: ([first]) => first!,
    monotonicMs: () => clock.ms,
    wait: async (milliseconds) => void waits.push(milliseconds),
  });
  const turns = async (count = 6) => {
    for (let i = 0; i < count; i += 1) await new Promise((turn) => setImmediate(turn));
  };
  return { supervisor, history, waits, processes, clock, turns };
}

test('the first process prepares the data before the others start', async () => {
  const { supervisor, history } = supervise();
  await supervisor.start();
  assert.deepEqual(history, ['spawn 0', 'spawn 1', 'start 0', 'start 1']);
});

test('a service whose first process cannot start fails with the exit code of that process', async () => {
  const { supervisor } = supervise({ startsWell: () => false });
  await assert.rejects(supervisor.start(), (error) => error instanceof StartFailed && error.exitCode === 2);
});

test('a process that ends is restarted, with growing delays while it ends early', async () => {
  const { supervisor, processes, waits, clock, turns } = supervise();
  await supervisor.start();
  for (let deaths = 0; deaths < 5; deaths += 1) {
    processes.at(-1)!.end(1);
    await turns();
  }
  assert.deepEqual(waits, [250, 500, 1_000, 2_000]);
  clock.ms = 3_600_000;
  processes.at(-1)!.end(1);
  await turns();
  assert.deepEqual(waits, [250, 500, 1_000, 2_000], 'a process that ran for an hour is replaced at once');
  assert.equal(processes.length, 8);
});

test('a process that cannot start again is tried again', async () => {
  const { supervisor, processes, history, turns } = supervise({ startsWell: (pid) => pid !== 3 });
  await supervisor.start();
  processes[1]!.end(1);
  await turns(12);
  assert.deepEqual(history.slice(4), ['exit 1', 'spawn 1', 'start 1', 'exit 1', 'spawn 1', 'start 1']);
});

test('a reload replaces one process after the other, each only when its successor serves', async () => {
  const { supervisor, history } = supervise();
  await supervisor.start();
  await supervisor.reload();
  assert.deepEqual(history.slice(4), [
    'spawn 0',
    'start 0',
    'stop 0',
    'exit 0',
    'spawn 1',
    'start 1',
    'stop 1',
    'exit 1',
  ]);
});

test('a reload whose new process cannot start keeps the old processes', async () => {
  const { supervisor, history, processes } = supervise({ startsWell: (pid) => pid < 3 });
  await supervisor.start();
  await supervisor.reload();
  assert.deepEqual(history.slice(4), ['spawn 0', 'start 0', 'exit 0']);
  assert.deepEqual(
    processes.map(({ connected }) => connected),
    [true, true, false],
  );
});

test('stopping drains every process and restarts none', async () => {
  const { supervisor, history } = supervise();
  await supervisor.start();
  await supervisor.stop();
  assert.deepEqual(history.slice(4), ['stop 0', 'stop 1', 'exit 0', 'exit 1']);
});
