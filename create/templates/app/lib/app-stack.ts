import { Stack, type StackProps } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { Steadfast, Workflows } from 'steadfast/cdk';

export class AppStack extends Stack {
  constructor(scope: Construct, id: string, props?: StackProps) {
    super(scope, id, props);
    new Steadfast(this, 'Steadfast', {
      workflows: Workflows.fromFolder('workflows'),
      // The agents share a function, which carries an execution on from step to step. Each has its own queue.
      hosting: 'shared',
      // For a new account, which has 10 concurrent executions. With 1,000, remove it: the default is 50.
      agentConcurrency: 2,
    });
  }
}
