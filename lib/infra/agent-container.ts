/**
 * An agent in a container: a Fargate service whose tasks are workers on the agent's queue.
 *
 * Owns: the image, the task with its role and its log, the service. Does not own: further permissions of the
 * role, which others grant, as for a function.
 *
 * Fargate has no GPUs. For those, and for a cluster of another kind, run the image yourself, and give its
 * role to `steadfast.grantWork(…)`.
 */

import type { ISecurityGroup, IVpc, SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import {
  type CfnCluster,
  type CfnService,
  Cluster,
  ContainerImage,
  ContainerInsights,
  CpuArchitecture,
  FargateService,
  FargateTaskDefinition,
  type ICluster,
  LinuxParameters,
  LogDriver,
  OperatingSystemFamily,
} from 'aws-cdk-lib/aws-ecs';
import { Grant, type IGrantable, type IPrincipal } from 'aws-cdk-lib/aws-iam';
import { ApplicationLogLevel } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Platform } from 'aws-cdk-lib/aws-ecr-assets';
import { Duration, Stack, Validations } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { defined } from '../core/values/defined.ts';
import { ENV } from '../aws/names.ts';
import type { KeysOf } from '../core/values/options.ts';
import type { LogSettings } from './function.ts';
import { tagLogs } from './parts.ts';

export interface ContainerSettings {
  /** The network of its tasks. They need a route to the AWS services: a NAT gateway, or endpoints. */
  readonly vpc: IVpc;
  /** @default - the private subnets */
  readonly vpcSubnets?: SubnetSelection;
  /** @default - a new one that allows all outbound traffic and no inbound traffic */
  readonly securityGroups?: readonly ISecurityGroup[];
  /**
   * Whether tasks get public addresses. In public subnets they need them.
   * @default false
   */
  readonly assignPublicIp?: boolean;
  /** @default - a new one, which all agents in this network share */
  readonly cluster?: ICluster;
  /**
   * The base of the image. It needs Node 22 or newer, a user `node`, and the programs that the agent calls.
   * @default - Node 24 on Debian, from the public gallery of ECR, by its digest
   */
  readonly baseImage?: string;
  /**
   * An image of your own, which starts the worker (docs/AGENTS-ELSEWHERE.md).
   * @default - made from the agent's file
   */
  readonly image?: ContainerImage;
  /**
   * CPU units of a task; 1024 are a core.
   * @default 1024
   */
  readonly cpu?: number;
  /** @default 2048 */
  readonly memoryLimitMiB?: number;
  /** @default - Fargate's default, 20 */
  readonly ephemeralStorageGiB?: number;
  /** @default CpuArchitecture.ARM64 */
  readonly cpuArchitecture?: CpuArchitecture;
  /**
   * The number of tasks, set by every deployment. To scale by load, leave it out and use
   * `steadfast.agent('…').container.service.autoScaleTaskCount(…)`.
   * @default - one at first, then the current number
   */
  readonly desiredCount?: number;
  /**
   * The number of attempts that one task performs at the same time, each in a process of its own.
   * @default 1
   */
  readonly concurrency?: number;
  /**
   * How long attempts may continue in a task that is being stopped; at most 2 minutes, Fargate's limit.
   * @default Duration.minutes(2)
   */
  readonly stopTimeout?: Duration;
}

export const CONTAINER_OPTIONS = {
  vpc: true,
  vpcSubnets: true,
  securityGroups: true,
  assignPublicIp: true,
  cluster: true,
  baseImage: true,
  image: true,
  cpu: true,
  memoryLimitMiB: true,
  ephemeralStorageGiB: true,
  cpuArchitecture: true,
  desiredCount: true,
  concurrency: true,
  stopTimeout: true,
} as const satisfies KeysOf<ContainerSettings>;

/**
 * Powertools' variable for the level, which has another word for FATAL. Lambda sets the level of a function.
 */
const LEVEL_VARIABLE = 'POWERTOOLS_LOG_LEVEL';
/** The part of the stop time that is reserved for giving messages back. */
const STOP_RESERVE_MS = 10_000;
const LONGEST_STOP = Duration.minutes(2);

export interface AgentContainerProps {
  readonly agentName: string;
  readonly settings: ContainerSettings;
  /** The folder from which the image is built; undefined if the stack needs no code. */
  readonly imageFolder: string | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly logs: LogSettings;
  /** The construct that contains the clusters which agents share. */
  readonly clusters: Construct;
}

export class AgentContainer extends Construct implements IGrantable {
  readonly taskDefinition: FargateTaskDefinition;
  readonly service: FargateService;
  readonly logGroup: LogGroup;
  readonly grantPrincipal: IPrincipal;

  constructor(scope: Construct, id: string, props: AgentContainerProps) {
    super(scope, id);
    const { settings } = props;
    checkContainer(props.agentName, settings);
    const { level: _, systemLevel: __, ...logs } = props.logs;
    this.logGroup = new LogGroup(this, 'Logs', logs);
    tagLogs(this.logGroup);
    this.taskDefinition = this.defineTask(props);
    this.grantPrincipal = this.taskDefinition.taskRole;
    const cluster = settings.cluster ?? clusterIn(props.clusters, settings.vpc);
    this.service = new FargateService(this, 'Service', {
      cluster,
      taskDefinition: this.taskDefinition,
      assignPublicIp: settings.assignPublicIp ?? false,
      // A new task takes messages beside the old ones, so no work waits for a deployment.
      minHealthyPercent: 100,
      circuitBreaker: { rollback: true },
      ...defined({
        desiredCount: settings.desiredCount,
        vpcSubnets: settings.vpcSubnets,
        securityGroups: settings.securityGroups && [...settings.securityGroups],
      }),
    });
    // Otherwise, unless a feature flag of the CDK prevents it, each deployment would reset the count that
    // autoscaling has set.
    if (settings.desiredCount === undefined)
      (this.service.node.findChild('Service') as CfnService).desiredCount = undefined;
    this.allowProtection(cluster);
  }

  /**
   * Lets tasks protect themselves while they work. Their ids are unknown at synthesis, so all tasks of the
   * service may.
   */
  private allowProtection(cluster: ICluster): void {
    const tasks = Stack.of(this).formatArn({
      service: 'ecs',
      resource: 'task',
      resourceName: `${cluster.clusterName}/*`,
    });
    const grantee = this.taskDefinition.taskRole;
    Grant.addToPrincipal({ grantee, actions: ['ecs:UpdateTaskProtection'], resourceArns: [tasks] });
    const { defaultChild } = cluster.node;
    const name =
      defaultChild === undefined
        ? cluster.clusterName
        : `<${Stack.of(this).getLogicalId(defaultChild as CfnCluster)}>`;
    Validations.of(grantee as unknown as Construct).acknowledge({
      id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ecs:<AWS::Region>:<AWS::AccountId>:task/${name}/*]`,
      reason: 'the tasks of a service have no names beforehand',
    });
  }

  addEnvironment(name: string, value: string): void {
    this.taskDefinition.defaultContainer?.addEnvironment(name, value);
  }

  private defineTask({
    agentName,
    settings,
    imageFolder,
    environment,
    logs: { level },
  }: AgentContainerProps): FargateTaskDefinition {
    const { stopTimeout = LONGEST_STOP, ephemeralStorageGiB } = settings;
    const cpuArchitecture = settings.cpuArchitecture ?? CpuArchitecture.ARM64;
    const task = new FargateTaskDefinition(this, 'Task', {
      cpu: settings.cpu ?? 1_024,
      memoryLimitMiB: settings.memoryLimitMiB ?? 2_048,
      runtimePlatform: { cpuArchitecture, operatingSystemFamily: OperatingSystemFamily.LINUX },
      ...(ephemeralStorageGiB === undefined ? {} : { ephemeralStorageGiB }),
    });
    task.addContainer('worker', {
      image: settings.image ?? imageFrom(imageFolder, settings.baseImage, cpuArchitecture),
      environment: {
        ...(level === undefined
          ? {}
          : { [LEVEL_VARIABLE]: level === ApplicationLogLevel.FATAL ? 'CRITICAL' : level }),
        ...environment,
        [ENV.workerConcurrency]: String(settings.concurrency ?? 1),
        [ENV.stopWithinMs]: String(Math.max(0, stopTimeout.toMilliseconds() - STOP_RESERVE_MS)),
      },
      logging: LogDriver.awsLogs({ logGroup: this.logGroup, streamPrefix: agentName }),
      stopTimeout,
      // Makes the first process reap child processes that the author's code leaves behind.
      linuxParameters: new LinuxParameters(this, 'Linux', { initProcessEnabled: true }),
    });
    const acknowledge = (on: Construct, which: string, reason: string): void =>
      Validations.of(on).acknowledge({ id: which, reason });
    acknowledge(
      task,
      'AwsSolutions-ECS2',
      'the variables are names of resources; secrets are granted to the role',
    );
    if (task.executionRole !== undefined)
      acknowledge(
        task.executionRole as unknown as Construct,
        'AwsSolutions-IAM5[Resource::*]',
        'the token with which an image is fetched knows no resource',
      );
    return task;
  }
}

/** The cluster for a network; one for each, because Container Insights is charged by the cluster. */
function clusterIn(scope: Construct, vpc: IVpc): ICluster {
  const id = `Cluster${vpc.node.addr.slice(-8)}`;
  const made = scope.node.tryFindChild(id) as Cluster | undefined;
  const cluster = made ?? new Cluster(scope, id, { vpc, containerInsightsV2: ContainerInsights.ENABLED });
  // The class declares an optional member differently from its interface (exactOptionalPropertyTypes).
  return cluster as ICluster;
}

function imageFrom(
  folder: string | undefined,
  baseImage: string | undefined,
  cpuArchitecture: CpuArchitecture,
): ContainerImage {
  if (folder === undefined) return ContainerImage.fromRegistry('not-built');
  const platform = cpuArchitecture === CpuArchitecture.ARM64 ? Platform.LINUX_ARM64 : Platform.LINUX_AMD64;
  const buildArgs = baseImage === undefined ? {} : { buildArgs: { BASE: baseImage } };
  return ContainerImage.fromAsset(folder, { platform, ...buildArgs });
}

/** @throws Error naming the agent, the setting and what is allowed */
function checkContainer(
  agent: string,
  { stopTimeout, concurrency = 1, baseImage, image }: ContainerSettings,
): void {
  const refuse = (what: string): never => {
    throw new Error(`agent '${agent}': container.${what}`);
  };
  if (stopTimeout !== undefined && stopTimeout.toSeconds() > LONGEST_STOP.toSeconds())
    refuse(`stopTimeout is ${stopTimeout.toSeconds()} s; Fargate allows ${LONGEST_STOP.toSeconds()} s`);
  if (!Number.isInteger(concurrency) || concurrency < 1)
    refuse(`concurrency is ${concurrency}; allowed: 1 or more`);
  if (baseImage !== undefined && image !== undefined) refuse('baseImage: set it in your own image');
}
