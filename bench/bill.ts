/**
 * `npm run bench:bill`: the whole bill of a month, from the counts of `bench:cost`.
 *
 * Owns: the output. Does not own: the sum (`parts/bill.ts`).
 */

import { Command } from 'commander';
import type { CostReport } from './cost.ts';
import { BILL_DEFAULTS, billOfOneHost, MONTHS, monthlyBills, ONE_HOST } from './parts/bill.ts';
import { table } from './parts/print.ts';
import { resultOf } from './parts/results.ts';

interface Asked {
  readonly agents: number;
  readonly functions?: number;
  readonly json?: true;
}

new Command('bench:bill')
  .description('Prints the bill of a month at defaults: idle, 100 runs a day, 10 M and 1,000 M steps.')
  .option('--agents <count>', 'agents of the deployment', Number, BILL_DEFAULTS.agents)
  .option('--functions <count>', 'functions that they share', Number)
  .option('--json', 'print one line of JSON')
  .action(({ agents, functions = agents, json }: Asked) => {
    const report = resultOf('cost') as CostReport | undefined;
    const counted = report?.cases.find((one) => one.kind === 'chain5' && one.mode === 'atRest');
    if (counted === undefined)
      throw new Error('there is no count of chain5 at rest: npm run bench:cost -- --save');
    const hosted = report?.oneHost?.cases.find((one) => one.kind === 'chain5' && one.mode === 'atRest');
    const bills = [
      ...monthlyBills(counted.units, { ...BILL_DEFAULTS, agents, functions }),
      ...(hosted === undefined ? [] : [billOfOneHost(hosted.units)]),
    ];
    if (json === true) console.log(JSON.stringify(bills));
    else {
      const money = (usd: number): string => usd.toFixed(2);
      const names = Object.keys(bills[0]?.lines ?? {});
      const rows = names.map((name) => [name, ...bills.map(({ lines }) => money(lines[name] ?? 0))]);
      const sums = ['total', ...bills.map(({ total }) => money(total))];
      const rivals = (['standard', 'express', 'durable'] as const).map((name) => [
        name,
        ...bills.map((bill) => money(bill.rivals[name])),
      ]);
      const months = [...MONTHS.map(([what]) => what), ...(hosted === undefined ? [] : [ONE_HOST])];
      console.log(table(['$ a month', ...months], [...rows, sums, ...rivals]));
    }
  })
  .parse();
