import { createPrivateKey, X509Certificate } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { Settings } from '../../platform/config/settings.ts';
import { localCertificate } from '../../platform/http/certificate.ts';
import { type Check, Wrong } from './check.ts';

const DAY_MS = 86_400_000;
const DAYS_LEFT_LEAST = 7;

export function certificateChecks(settings: Settings): Check[] {
  const { tlsCert, tlsKey, domain } = settings;
  if (tlsCert && tlsKey) return [givenCheck(tlsCert, tlsKey, domain)];
  return [
    {
      name: 'certificate',
      todo: 'Remove the folder tls in the data folder; the next start creates a new certificate.',
      run: async () => {
        const { cert, file } = await localCertificate(join(resolve(settings.data), 'tls'), domain);
        requireDates(new X509Certificate(cert));
        return `local, ${untilOf(cert)}; clients trust ${file}`;
      },
    },
  ];
}

function givenCheck(cert: string, key: string, domain: string): Check {
  return {
    name: 'certificate',
    todo: 'Get a new certificate, and set MODSTEAD_TLS_CERT and MODSTEAD_TLS_KEY to its files.',
    run: async () => {
      const certificate = new X509Certificate(cert);
      if (!certificate.checkPrivateKey(createPrivateKey(key)))
        throw new Wrong('MODSTEAD_TLS_KEY is not the key of MODSTEAD_TLS_CERT');
      requireDates(certificate);
      const names = [domain, `*.${domain}`, `test.${domain}`, `*.test.${domain}`, `*.ws.${domain}`];
      const missing = names.filter((name) => certificate.checkHost(name.replace('*', 'g-1')) === undefined);
      if (missing.length > 0)
        throw new Wrong(`it is not valid for ${missing.join(', ')}`, `Get one for ${names.join(', ')}.`);
      return `for ${domain}, ${untilOf(cert)}`;
    },
  };
}

function requireDates({ validFromDate, validToDate }: X509Certificate): void {
  const now = Date.now();
  if (validFromDate.getTime() > now) throw new Wrong(`it is not valid before ${validFromDate.toISOString()}`);
  if (validToDate.getTime() < now) throw new Wrong(`it expired on ${validToDate.toISOString()}`);
  if (validToDate.getTime() < now + DAYS_LEFT_LEAST * DAY_MS)
    throw new Wrong(`it expires on ${validToDate.toISOString()}, in less than ${DAYS_LEFT_LEAST} days`);
}

const untilOf = (cert: string) => `valid until ${new X509Certificate(cert).validToDate.toISOString().slice(0, 10)}`;
