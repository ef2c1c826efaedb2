import { execFileSync } from 'node:child_process';

const BRIDGE = 'msfleet';
const NETWORK = '10.99.0';

/** The address of this machine on the network of the fleet. */
export const HERE = `${NETWORK}.1`;

/** A machine: a network namespace on a bridge. */
export interface Machine {
  readonly name: string;
  readonly address: string;
}

const ip = (...args: string[]) => execFileSync('ip', args, { stdio: ['ignore', 'pipe', 'pipe'] }).toString();

/** Makes machines with these numbers. Leftovers of a killed run are removed first. */
export function makeNetwork(machines: Readonly<Record<string, number>>): Machine[] {
  removeNetwork();
  ip('link', 'add', BRIDGE, 'type', 'bridge');
  ip('addr', 'add', `${HERE}/24`, 'dev', BRIDGE);
  ip('link', 'set', BRIDGE, 'up');
  return Object.entries(machines).map(([name, number]) => {
    const machine = { name, address: `${NETWORK}.${number}` };
    const namespace = namespaceOf(machine);
    ip('netns', 'add', namespace);
    ip('link', 'add', cableOf(machine), 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
    ip('link', 'set', cableOf(machine), 'master', BRIDGE, 'up');
    ip('-n', namespace, 'addr', 'add', `${machine.address}/24`, 'dev', 'eth0');
    for (const device of ['lo', 'eth0']) ip('-n', namespace, 'link', 'set', device, 'up');
    return machine;
  });
}

export function removeNetwork(): void {
  for (const line of ip('netns', 'list').split('\n')) {
    const [name = ''] = line.split(' ');
    if (name.startsWith(`${BRIDGE}-`)) ip('netns', 'del', name);
  }
  if (ip('-o', 'link', 'show', 'type', 'bridge').includes(` ${BRIDGE}:`)) ip('link', 'del', BRIDGE);
}

const namespaceOf = ({ name }: Machine) => `${BRIDGE}-${name}`;
const cableOf = ({ name }: Machine) => `msf-${name}`;

/** The beginning of a command that runs on the machine. */
export const on = (machine: Machine): string[] => ['ip', 'netns', 'exec', namespaceOf(machine)];

/** Unplugs the machine: packets vanish, and no connection is closed. */
export const unplug = (machine: Machine): void => void ip('link', 'set', cableOf(machine), 'down');
export const plugIn = (machine: Machine): void => void ip('link', 'set', cableOf(machine), 'up');
