import { lookup } from 'node:dns/promises';
import net, { isIP } from 'node:net';

/** A bound socket; it stays open in the supervisor, so that its queue outlives the process that accepts from it. */
export interface BoundSocket {
  fd(): number;
}

/**
 * One socket per process on the same port, between which the kernel distributes connections. Where the system cannot do
 * that, all processes share one.
 */
export async function bindSockets(bind: string | undefined, port: number, count: number): Promise<BoundSocket[]> {
  const host = await hostOf(bind, port);
  // Without this check a second service of the same user could share the port unnoticed.
  new net.BoundSocket({ host, port }).close();
  try {
    return Array.from({ length: count }, () => new net.BoundSocket({ host, port, reusePort: true }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTSUP') throw error;
    const shared = new net.BoundSocket({ host, port });
    return Array.from({ length: count }, () => shared);
  }
}

const ANY_IPV6 = '::';
const ANY_IPV4 = '0.0.0.0';

async function hostOf(bind: string | undefined, port: number): Promise<string> {
  if (bind !== undefined) return isIP(bind) ? bind : (await lookup(bind)).address;
  try {
    new net.BoundSocket({ host: ANY_IPV6, port }).close();
    return ANY_IPV6;
  } catch (error) {
    // As `net.Server` does on a system without IPv6.
    if (['EAFNOSUPPORT', 'EINVAL', 'EADDRNOTAVAIL'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return ANY_IPV4;
    throw error;
  }
}
