import type { Settings } from '../../platform/config/settings.ts';
import { probeLarge, probeSmall } from '../../platform/scanning/probe.ts';
import { clamdAt } from '../../platform/scanning/scanning.ts';
import { type Check, Wrong } from './check.ts';

const MEGABYTE = 1024 ** 2;

export const scannerCheck = ({ clamd: address, scanMegabytes, scanSeconds }: Settings): Check => ({
  name: 'scanner',
  todo: 'Start clamd, check the permissions of its socket, or correct MODSTEAD_CLAMD.',
  run: async () => {
    if (!address) return 'none; files are not scanned and are marked as such (MODSTEAD_CLAMD)';
    const clamd = clamdAt(address, { patienceMs: scanSeconds * 1_000 });
    await clamd.ping();
    const version = await clamd.version();
    const known = await probeSmall(clamd);
    if (known.kind !== 'found')
      throw new Wrong(`${version} does not detect the EICAR test file`, 'Run freshclam, and check the log of clamd.');
    const large = await probeLarge(clamd, scanMegabytes * MEGABYTE);
    if (large.kind !== 'found')
      throw new Wrong(
        large.kind === 'clean'
          ? `${version} reports files of ${scanMegabytes} MB as clean without scanning them`
          : `${version} does not accept files of ${scanMegabytes} MB`,
        'Raise StreamMaxLength, MaxFileSize and MaxScanSize in clamd.conf, or lower MODSTEAD_SCAN_MB.',
      );
    return `${version}, for files up to ${scanMegabytes} MB`;
  },
});
