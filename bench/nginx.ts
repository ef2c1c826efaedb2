import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

const START_MS = 1_000;

/**
 * nginx as Debian sets it up, in one process, with `key.pem` and `cert.pem` of the folder, or without TLS; undefined
 * where it is not installed or not allowed to start.
 */
export async function startNginx(
  folder: string,
  directives: string,
  isSecure = true,
): Promise<{ process: ChildProcess; port: number } | undefined> {
  const port = await freePort();
  const tls = `ssl_certificate ${folder}/cert.pem; ssl_certificate_key ${folder}/key.pem; ssl_protocols TLSv1.2 TLSv1.3;`;
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log ${folder}/nginx.log;
events { worker_connections 4096; }
http { access_log off; sendfile on; tcp_nopush on; types_hash_max_size 2048;
client_body_temp_path ${folder}/n1; proxy_temp_path ${folder}/n2; fastcgi_temp_path ${folder}/n3;
uwsgi_temp_path ${folder}/n4; scgi_temp_path ${folder}/n5;
server { listen 127.0.0.1:${port} ${isSecure ? `ssl; ${tls}` : ';'} ${directives} } }\n${process.getuid?.() === 0 ? 'user root;\n' : ''}`,
  );
  const nginx = spawn('nginx', ['-c', file], { stdio: 'ignore' });
  process.on('exit', () => nginx.kill());
  const isUp = await Promise.race([
    new Promise<boolean>((resolve) => nginx.once('error', () => resolve(false)).once('exit', () => resolve(false))),
    wait(START_MS, true),
  ]);
  return isUp ? { process: nginx, port } : undefined;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
