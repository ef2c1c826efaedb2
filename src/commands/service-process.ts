import { readSettings } from '../platform/config/settings.ts';
import { SupervisedSiblings, type Upward } from '../platform/runtime/siblings.ts';
import { failureOf } from './failure.ts';
import { FIRST_LISTEN_FD, type FromProcess, type StartOrder, type ToProcess } from './serving/messages.ts';

const send = (message: FromProcess) => void process.send?.(message, undefined, {}, () => {});

/** Waits for the order to start; the program is loaded meanwhile. */
const ordered = new Promise<StartOrder>((resolve) => {
  const first = (message: ToProcess) => {
    if (message.kind !== 'start') return;
    process.off('message', first);
    resolve(message);
  };
  process.on('message', first);
});
/** The supervisor forwards signals, and decides what a closed terminal means. */
process.on('SIGHUP', () => {});

try {
  const serving = import('./start-serving.ts');
  const order = await ordered;
  const siblings = new SupervisedSiblings(order.count, (message: Upward) => send(message));
  const stopped = new Promise<void>((resolve) => {
    process.on('message', (message: ToProcess) => {
      if (message.kind === 'stop') resolve();
      else if (message.kind !== 'start') siblings.receive(message);
    });
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve());
    process.on('disconnect', () => resolve());
  });
  const settings = { ...readSettings(process.env), ...order.overrides };
  const { startServing } = await serving;
  const listenFds = Array.from({ length: order.sockets }, (_, i) => FIRST_LISTEN_FD + i);
  const { service, demo } = await startServing(settings, order.demo, { siblings, listenFds });
  send({ kind: 'started', certificateFile: service.certificateFile, demo });
  await stopped;
  await service.stop();
  siblings.leave();
  if (process.connected) process.disconnect?.();
  process.exit(0);
} catch (error) {
  const { text, exitCode } = failureOf(error, process.env);
  process.stderr.write(`${text}\n`);
  process.exit(exitCode);
}
