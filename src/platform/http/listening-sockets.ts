import { lookup } from 'node:dns/promises';
import net, { isIP } from 'node:net';

/**
 * Node.js accepts one connection per listening socket in each iteration of the event loop, and under load an iteration
 * answers hundreds of requests. With this many sockets new connections do not wait behind them (decision 84).
 */
export const SOCKETS_PER_PROCESS = 32;

/** A bound socket that somebody can listen on. */
export interface BoundSocket {
  fd(): number;
  address(): { readonly port: number };
}

/**
 * Binds sockets on one port, between which the kernel distributes connections. Where the system cannot do that, there is
 * only one.
 */
export async function bindSockets(bind: string | undefined, port: number, count: number): Promise<BoundSocket[]> {
  const host = await hostOf(bind);
  // Without this check a second service of the same user could share the port unnoticed.
  const first = new net.BoundSocket({ host, port });
  const chosen = first.address().port;
  first.close();
  try {
    return Array.from({ length: count }, () => new net.BoundSocket({ host, port: chosen, reusePort: true }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTSUP') throw error;
    return [new net.BoundSocket({ host, port: chosen })];
  }
}

const ANY_IPV6 = '::';
const ANY_IPV4 = '0.0.0.0';

async function hostOf(bind: string | undefined): Promise<string> {
  if (bind !== undefined) return isIP(bind) ? bind : (await lookup(bind)).address;
  try {
    new net.BoundSocket({ host: ANY_IPV6 }).close();
    return ANY_IPV6;
  } catch {
    // As `net.Server` does on a system without IPv6.
    return ANY_IPV4;
  }
}
