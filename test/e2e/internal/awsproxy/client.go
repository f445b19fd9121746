package awsproxy

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Region of everything.
const Region = "us-east-1"

// A Client of the account, for who is neither the function nor the provider. It signs nothing: moto goes by the scope.
type Client struct {
	url, key string
}

// NewClient returns a client with an access key.
func NewClient(url, key string) *Client { return &Client{url: url, key: key} }

// Params of a call.
type Params map[string]string

// Call one of the query APIs, and return the response.
func (c *Client) Call(ctx context.Context, service, action string, params Params) ([]byte, error) {
	form := url.Values{"Action": {action}}
	for k, v := range params {
		form.Set(k, v)
	}
	status, content, err := c.do(ctx, service, http.MethodPost, "/", form.Encode())
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%d: %s", status, content)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot call %s: %w", action, err)
	}
	return content, nil
}

func (c *Client) do(ctx context.Context, service, method, path, body string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if service != "s3" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	req.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/20200101/%s/%s/aws4_request, SignedHeaders=host, Signature=0", c.key, Region, service))
	rsp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer rsp.Body.Close() //nolint:errcheck // It was read as far as it is needed.
	content, err := io.ReadAll(rsp.Body)
	return rsp.StatusCode, content, err
}

// A Group of the account.
type Group struct {
	Name     string   `xml:"AutoScalingGroupName"`
	ARN      string   `xml:"AutoScalingGroupARN"`
	Min      int      `xml:"MinSize"`
	Max      int      `xml:"MaxSize"`
	Desired  int      `xml:"DesiredCapacity"`
	Template Version  `xml:"LaunchTemplate"`
	Members  []Member `xml:"Instances>member"`
	Tags     []Tag    `xml:"Tags>member"`
}

// A Tag of a group.
type Tag struct {
	Key   string `xml:"Key"`
	Value string `xml:"Value"`
}

// A Version of a launch template.
type Version struct {
	ID      string `xml:"LaunchTemplateId"`
	Version string `xml:"Version"`
}

// A Member of a group.
type Member struct {
	ID       string  `xml:"InstanceId"`
	Zone     string  `xml:"AvailabilityZone"`
	Template Version `xml:"LaunchTemplate"`
}

// Group by its name; nil when there is none.
func (c *Client) Group(ctx context.Context, name string) (*Group, error) {
	content, err := c.Call(ctx, "autoscaling", "DescribeAutoScalingGroups", Params{"AutoScalingGroupNames.member.1": name})
	if err != nil {
		return nil, err
	}
	out := struct {
		Groups []Group `xml:"DescribeAutoScalingGroupsResult>AutoScalingGroups>member"`
	}{}
	if err := xml.Unmarshal(content, &out); err != nil {
		return nil, err
	}
	if len(out.Groups) == 0 {
		return nil, nil
	}
	return &out.Groups[0], nil
}

// A Template of the account.
type Template struct {
	ID      string `xml:"launchTemplateId"`
	Name    string `xml:"launchTemplateName"`
	Default int    `xml:"defaultVersionNumber"`
	Latest  int    `xml:"latestVersionNumber"`
}

// Templates of the account.
func (c *Client) Templates(ctx context.Context) ([]Template, error) {
	content, err := c.Call(ctx, "ec2", "DescribeLaunchTemplates", nil)
	if err != nil {
		return nil, err
	}
	out := struct {
		Templates []Template `xml:"launchTemplates>item"`
	}{}
	err = xml.Unmarshal(content, &out)
	return out.Templates, err
}

// Object of a bucket; found is false when there is none.
func (c *Client) Object(ctx context.Context, bucket, key string) (content []byte, found bool, err error) {
	status, content, err := c.do(ctx, "s3", http.MethodGet, "/"+bucket+"/"+key, "")
	if err != nil || status == http.StatusNotFound {
		return nil, false, err
	}
	if status != http.StatusOK {
		return nil, false, fmt.Errorf("cannot get %s/%s: %d", bucket, key, status)
	}
	return content, true, nil
}

// CreateBucket of a name.
func (c *Client) CreateBucket(ctx context.Context, bucket string) error {
	status, content, err := c.do(ctx, "s3", http.MethodPut, "/"+bucket, "")
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%d: %s", status, content)
	}
	if err != nil {
		return fmt.Errorf("cannot create bucket %s: %w", bucket, err)
	}
	return nil
}

// First text of an element in a response; empty when there is none.
func First(content []byte, element string) string {
	d := xml.NewDecoder(strings.NewReader(string(content)))
	for {
		t, err := d.Token()
		if err != nil {
			return ""
		}
		if start, ok := t.(xml.StartElement); ok && start.Name.Local == element {
			text := ""
			if d.DecodeElement(&text, &start) != nil {
				return ""
			}
			return strings.TrimSpace(text)
		}
	}
}
