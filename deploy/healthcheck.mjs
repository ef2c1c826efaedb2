// Exits with 0 if the service in this container is ready. It needs no certificate, because it asks on loopback.
import { get } from 'node:https';

const port = process.env.MODSTEAD_PORT || '8443';
get(`https://127.0.0.1:${port}/readyz`, { rejectUnauthorized: false, timeout: 4_000 }, ({ statusCode }) => {
  process.exit(statusCode === 200 ? 0 : 1);
})
  .on('timeout', () => process.exit(1))
  .on('error', () => process.exit(1));
